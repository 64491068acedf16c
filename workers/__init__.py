"""The loop that reads Kafka, learns, and commits."""
