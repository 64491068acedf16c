"""What the Python API stands on: tables and labels as notebooks hold them, and a learner without a stream."""
