"""Topics: making them, and asking for partitions, identity and watermarks."""

import threading
import time
from concurrent.futures import Future

from confluent_kafka import Consumer as Client
from confluent_kafka import KafkaError, KafkaException, TopicCollection, TopicPartition
from confluent_kafka.admin import AdminClient, ClusterMetadata, NewTopic, TopicMetadata

from broker.client_config import Connection
from broker.client_errors import Grumbler, broker_down, made, reason
from broker.types import Watermarks
from streamsieve.errors import BrokerDown

_ANSWER_SECONDS = 10.0
_ELECTION_SECONDS = 3.0
_AGAIN_SECONDS = 0.05
_UNSETTLED = {
    KafkaError.NOT_LEADER_FOR_PARTITION,
    KafkaError.LEADER_NOT_AVAILABLE,
    KafkaError.UNKNOWN_TOPIC_OR_PART,
    KafkaError.FENCED_LEADER_EPOCH,
    KafkaError.UNKNOWN_LEADER_EPOCH,
}
_ABSENT = {KafkaError.UNKNOWN_TOPIC_OR_PART, KafkaError.LEADER_NOT_AVAILABLE}
_NO_TOPIC = "sieve-no-such-topic"  # asking for one topic is cheaper than asking for all


class KafkaAdmin:
    """Shared by all clients of a broker; any thread may ask. Its clients are made at the first question."""

    def __init__(self, connection: Connection, seconds: float = _ANSWER_SECONDS) -> None:
        self._connection = connection
        self._seconds = seconds
        self._lock = threading.Lock()  # the binding refuses two threads in one consumer
        self._client: Client | None = None
        self._admin: AdminClient | None = None

    def ping(self) -> None:
        """Raises BrokerDown if no broker answers."""
        self._metadata(_NO_TOPIC)

    def partition_count(self, topic: str) -> int:
        """0 if the topic doesn't exist."""
        return len(self._metadata(topic).partitions)

    def watermarks(self, topic: str) -> dict[int, Watermarks]:
        """Of every partition; {} if the topic doesn't exist."""
        return {partition: self.watermark(topic, partition) for partition in sorted(self._metadata(topic).partitions)}

    def watermark(self, topic: str, partition: int) -> Watermarks:
        """Of one partition; a leader that isn't settled yet is asked again for a while."""
        deadline = time.monotonic() + min(self._seconds, _ELECTION_SECONDS)
        while True:
            try:
                return self._ask_watermark(topic, partition)
            except KafkaException as failure:
                if reason(failure).code() not in _UNSETTLED or time.monotonic() > deadline:
                    raise broker_down(failure, f"watermarks of {topic}/{partition}") from failure
            time.sleep(_AGAIN_SECONDS)

    def _ask_watermark(self, topic: str, partition: int) -> Watermarks:
        with self._lock:
            low, high = self._asker().get_watermark_offsets(TopicPartition(topic, partition), timeout=self._seconds)
            return Watermarks(low, high)

    def topic_id(self, topic: str) -> str:
        """'' where the broker has no admin calls."""
        if not self._has_controller():
            return ""
        asked = self._topics().describe_topics(TopicCollection([topic]), request_timeout=self._seconds)
        try:
            return str(asked[topic].result().topic_id)
        except KafkaException as failure:
            raise broker_down(failure, f"identity of {topic}") from failure

    def ensure_topic(self, topic: str, partitions: int, compacted: bool) -> None:
        """Make the topic if it isn't there."""
        if self.partition_count(topic):
            return
        if self._has_controller():
            self._create(topic, partitions, compacted)
        else:
            self._create_by_asking(topic)
        self._wait_until_known(topic)

    def close(self) -> None:
        """Let go of both clients."""
        with self._lock:
            if self._client is not None:
                self._client.close()
            self._client = self._admin = None

    def _create(self, topic: str, partitions: int, compacted: bool) -> None:
        config = {"cleanup.policy": "compact"} if compacted else {}
        new = NewTopic(topic, partitions, replication_factor=-1, config=config)
        made: Future[None] = self._topics().create_topics([new], request_timeout=self._seconds)[topic]
        try:
            made.result()
        except KafkaException as failure:
            if reason(failure).code() != KafkaError.TOPIC_ALREADY_EXISTS:
                raise broker_down(failure, f"making {topic}") from failure

    def _create_by_asking(self, topic: str) -> None:
        """The embedded cluster has no admin calls; it makes a topic, with its own count of partitions, when asked."""
        try:
            self._topics().list_topics(topic, timeout=self._seconds)
        except KafkaException as failure:
            raise broker_down(failure, f"making {topic}") from failure

    def _wait_until_known(self, topic: str) -> None:
        """A broker other than the controller may learn of the topic a moment later."""
        deadline = time.monotonic() + self._seconds
        while not self.partition_count(topic):
            if time.monotonic() > deadline:
                raise BrokerDown(f"{topic} was made but the broker doesn't show it")
            time.sleep(_AGAIN_SECONDS)

    def _has_controller(self) -> bool:
        """The embedded cluster names a controller that isn't among its brokers; admin calls there only time out."""
        cluster = self._cluster(_NO_TOPIC)
        return cluster.controller_id in cluster.brokers

    def _metadata(self, topic: str) -> TopicMetadata:
        answer: TopicMetadata = self._cluster(topic).topics[topic]
        error = answer.error
        if error is not None and error.code() not in _ABSENT:
            raise BrokerDown(f"{topic}: {error.str()}")
        return answer

    def _cluster(self, topic: str) -> ClusterMetadata:
        with self._lock:
            try:
                return self._asker().list_topics(topic, timeout=self._seconds)
            except KafkaException as failure:
                raise broker_down(failure, "no broker answers") from failure

    def _asker(self) -> Client:
        if self._client is None:
            self._client = made(Client, self._connection.asker(Grumbler("asker")))
        return self._client

    def _topics(self) -> AdminClient:
        with self._lock:
            if self._admin is None:
                self._admin = made(AdminClient, self._connection.admin(Grumbler("admin")))
            return self._admin
