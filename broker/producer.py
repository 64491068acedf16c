"""Sending to Kafka: idempotent, acknowledged by all replicas, and never stuck on a record's size."""

import logging
import threading
import time
from collections.abc import Sequence

from confluent_kafka import KafkaError, KafkaException, Message
from confluent_kafka import Producer as Client

from broker.client_config import Connection
from broker.client_errors import Grumbler, made, reason
from broker.truncation import is_truncated, truncated
from broker.types import Outgoing
from streamsieve.errors import BrokerDown

logger = logging.getLogger(__name__)


class Deliveries:
    """What became of the records of one batch."""

    def __init__(self) -> None:
        self.too_large: list[Outgoing] = []
        self.failure: KafkaError | None = None

    def done(self, record: Outgoing, error: KafkaError | None) -> None:
        """One record was acknowledged, or failed."""
        if error is None:
            return
        if error.code() == KafkaError.MSG_SIZE_TOO_LARGE:
            self.too_large.append(record)
        else:
            self.failure = error


class KafkaProducer:
    """Any thread may send. After a failure the client is made anew: an idempotent one may be broken for good."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._lock = threading.Lock()
        self._client: Client | None = None

    def send_all(self, records: Sequence[Outgoing], seconds: float = 30.0) -> None:
        """Return when every record is acknowledged; raises BrokerDown, and then any part of them may have arrived."""
        deadline = time.monotonic() + seconds
        with self._lock:
            refused = self._deliver(records, deadline)
            # A batch is refused whole, so each of its records gets a try of its own before it is cut.
            for record in refused:
                alone = [record] if len(records) == 1 else self._deliver([record], deadline)
                for large in alone:
                    self._deliver_cut(large, deadline)

    def close(self) -> None:
        """Flush and let go."""
        with self._lock:
            if self._client is not None:
                self._client.flush(5.0)
            self._discard()

    def _deliver_cut(self, record: Outgoing, deadline: float) -> None:
        logger.warning("a record of %d bytes for %s is too large: cut", len(record.value or b""), record.topic)
        if is_truncated(record) or self._deliver([truncated(record)], deadline):
            raise BrokerDown(f"{record.topic} refuses even the first part of a record for its size")

    def _deliver(self, records: Sequence[Outgoing], deadline: float) -> list[Outgoing]:
        """Send and wait; gives back what was refused for its size."""
        deliveries = Deliveries()
        client = self._connected()
        for record in records:
            self._enqueue(client, record, deliveries, deadline)
        unsent = client.flush(max(deadline - time.monotonic(), 0.0))
        if deliveries.failure is not None:
            self._fail(f"sending failed: {deliveries.failure.str()}")
        if unsent:
            self._fail(f"{unsent} of {len(records)} records were not acknowledged in time")
        return deliveries.too_large

    def _enqueue(self, client: Client, record: Outgoing, deliveries: Deliveries, deadline: float) -> None:
        def delivered(error: KafkaError | None, _message: Message) -> None:
            deliveries.done(record, error)

        while True:
            try:
                client.produce(
                    record.topic,
                    value=record.value,
                    key=record.key,
                    headers=list(record.headers),
                    partition=-1 if record.partition is None else record.partition,
                    on_delivery=delivered,
                )
            except BufferError:
                client.poll(0.1)
                if time.monotonic() > deadline:
                    self._fail("the queue of records to send stays full")
            except KafkaException as failure:
                if reason(failure).code() != KafkaError.MSG_SIZE_TOO_LARGE:
                    self._fail(f"sending failed: {reason(failure).str()}")
                deliveries.too_large.append(record)
                return
            else:
                return

    def _connected(self) -> Client:
        if self._client is None:
            self._client = made(Client, self._connection.producer(Grumbler("producer")))
        return self._client

    def _fail(self, why: str) -> None:
        self._discard()
        raise BrokerDown(why)

    def _discard(self) -> None:
        """Records still queued must not arrive after their sender was told of a failure and moved on."""
        if self._client is not None:
            self._client.purge()
            self._client.flush(0.0)
            self._client = None
