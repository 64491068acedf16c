"""Kafka as `broker.protocol.Broker`."""

from collections.abc import Mapping
from types import MappingProxyType

from broker.admin import KafkaAdmin
from broker.client_config import Connection
from broker.consumer import KafkaConsumer
from broker.producer import KafkaProducer
from broker.protocol import Assignments
from broker.types import Watermarks

_NOTHING: Mapping[str, object] = MappingProxyType({})


class KafkaBroker:
    """Makes clients of one cluster. No client exists before it is needed, so that a process may fork before."""

    def __init__(
        self,
        bootstrap: str,
        config: Mapping[str, object] = _NOTHING,
        session_timeout_ms: int = 6_000,
        answer_seconds: float = 10.0,
    ) -> None:
        self._connection = Connection(bootstrap, config, session_timeout_ms)
        self._admin = KafkaAdmin(self._connection, answer_seconds)

    def consumer(self, topic: str, group: str, told: Assignments) -> KafkaConsumer:
        """Join the group."""
        return KafkaConsumer(self._connection, self._admin, topic, group, told)

    def producer(self) -> KafkaProducer:
        """A new producer."""
        return KafkaProducer(self._connection)

    def partition_count(self, topic: str) -> int:
        """0 if the topic doesn't exist; raises BrokerDown."""
        return self._admin.partition_count(topic)

    def watermarks(self, topic: str) -> dict[int, Watermarks]:
        """Of every partition; raises BrokerDown; {} if the topic doesn't exist."""
        return self._admin.watermarks(topic)

    def ensure_topic(self, topic: str, partitions: int = 1, compacted: bool = False) -> None:
        """Make the topic if it isn't there; raises BrokerDown. The embedded cluster chooses the partitions itself."""
        self._admin.ensure_topic(topic, partitions, compacted)

    def ping(self) -> None:
        """Raises BrokerDown if no broker answers."""
        self._admin.ping()

    def close(self) -> None:
        """Let go of shared clients."""
        self._admin.close()
