"""Librdkafka's own Kafka cluster, inside this process and reachable from others: enough for a demo and for tests.

It keeps about 5 MiB a partition and forgets the rest, makes every topic with 4 partitions, and knows neither admin
calls nor real transactions. It lives as long as the object that `start_embedded` gives.
"""

import logging

from confluent_kafka import KafkaException, Producer

from broker.client_errors import broker_down

SESSION_TIMEOUT_MS = 3_000  # its groups allow less than Kafka's do: a dead member is noticed sooner


class EmbeddedKafka:
    """A running cluster; `bootstrap` is what clients, also of other processes, connect to."""

    def __init__(self, host: Producer, bootstrap: str) -> None:
        self._host: Producer | None = host
        self.bootstrap = bootstrap

    def close(self) -> None:
        """End the cluster and forget what it held."""
        self._host = None  # the cluster ends with the client that started it

    def __enter__(self) -> "EmbeddedKafka":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def start_embedded(brokers: int = 1) -> EmbeddedKafka:
    """Start a cluster on free ports of the loopback; raises BrokerDown if it doesn't come up."""
    host = Producer(
        {
            "bootstrap.servers": "127.0.0.1:1",  # replaced by the mock cluster's own
            "test.mock.num.brokers": brokers,
            "log_level": 2,
            "logger": logging.getLogger("broker.librdkafka"),
        }
    )
    try:
        found = host.list_topics(timeout=10.0).brokers.values()
    except KafkaException as failure:
        raise broker_down(failure, "the embedded Kafka does not start") from failure
    return EmbeddedKafka(host, ",".join(f"{one.host}:{one.port}" for one in found))
