"""Kafka: consumer, producer, admin; and an in-memory twin."""
