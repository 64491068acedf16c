"""Record bytes to batches or rejects, one file a format."""
