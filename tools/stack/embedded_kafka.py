"""The Kafka of the embedded stack: the cluster inside librdkafka, which only the broker's room may touch."""

from broker.embedded import EmbeddedKafka, start_embedded

__all__ = ["EmbeddedKafka", "start_embedded"]
