"""A member of a consumer group whose positions are its caller's, not Kafka's.

A partition is read only when `feed` says from where. Positions are derived from the records given out and
from nothing else, so that a rebalance, a pause or a stale queue in the client can neither skip nor repeat a record.
"""

import logging
import time
from collections.abc import Callable, Sequence

from confluent_kafka import Consumer as Client
from confluent_kafka import KafkaError, KafkaException, Message, TopicPartition

from broker.admin import KafkaAdmin
from broker.client_config import Connection
from broker.client_errors import Grumbler, broker_down, made, reason
from broker.protocol import Assignments
from broker.types import End, Headers, Polled, Record, Watermarks

logger = logging.getLogger(__name__)

_SLICE_SECONDS = 0.05  # a wish made within a callback, or one that has to be tried again, waits no longer than this
_NOT_YET = {KafkaError._STATE, KafkaError._PREV_IN_PROGRESS, KafkaError._OUTDATED, KafkaError._TIMED_OUT}
_PASSING = {
    KafkaError._TRANSPORT,
    KafkaError._ALL_BROKERS_DOWN,
    KafkaError._RESOLVE,
    KafkaError._TIMED_OUT,
    KafkaError._MAX_POLL_EXCEEDED,  # `lost` follows
    KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
    KafkaError.COORDINATOR_NOT_AVAILABLE,
    KafkaError.NOT_COORDINATOR,
    KafkaError.REQUEST_TIMED_OUT,
}


class Place:
    """Where a partition stands: its next record has this offset or a later one."""

    def __init__(self, offset: int, leader_epoch: int) -> None:
        self.offset = offset
        self.leader_epoch = leader_epoch


class KafkaConsumer:
    """Used from one thread. A partition of ours is wished (a seek is due), fed (in `_places`), or neither."""

    def __init__(self, connection: Connection, admin: KafkaAdmin, topic: str, group: str, told: Assignments) -> None:
        self._closed = True  # until there is a client
        self._topic = topic
        self._admin = admin
        self._told = told
        self._mine: set[int] = set()
        self._wishes: dict[int, Place] = {}
        self._places: dict[int, Place] = {}
        self._held: dict[int, Place] = {}
        self._started: set[int] = set()  # the client has them
        self._stopped: set[int] = set()  # of these, the client gave up after a fault
        self._moved = False  # the caller was told something and may want to feed what came
        self._broken: BaseException | None = None
        self._grumbler = Grumbler(f"consumer of {topic}")
        self._client = made(Client, connection.consumer(group, self._grumbler, _committed))
        self._closed = False
        self._client.subscribe([topic], on_assign=self._on_assign, on_revoke=self._on_revoke, on_lost=self._on_lost)

    def poll(self, most: int, seconds: float) -> Polled:
        """Wait for records, at most so many and so long."""
        deadline = time.monotonic() + seconds
        self._moved = False
        while True:
            self._check()
            self._grant_wishes()
            left = deadline - time.monotonic()
            polled = self._sorted(self._gather(most, min(max(left, 0.0), _SLICE_SECONDS)))
            if any(polled) or self._moved or left <= _SLICE_SECONDS:
                return polled

    def feed(self, partition: int, offset: int, leader_epoch: int = -1) -> None:
        """Give out this partition's records from `offset` on; ignored if it isn't ours."""
        if partition in self._mine:
            self._forget(partition)
            self._wishes[partition] = Place(offset, leader_epoch)

    def hold(self, partition: int) -> None:
        """Stop giving out this partition's records."""
        place = self._wishes.pop(partition, None) or self._places.pop(partition, None)
        if place is not None:
            self._held[partition] = place
            if partition in self._started:
                self._client.pause([TopicPartition(self._topic, partition)])

    def resume(self, partition: int) -> None:
        """Go on after `hold`: a seek to our own place, for a pause drops what the client had fetched."""
        place = self._held.pop(partition, None)
        if place is not None:
            self._wishes[partition] = place

    def watermarks(self, partition: int) -> Watermarks:
        """Asked of the broker; raises BrokerDown."""
        return self._admin.watermark(self._topic, partition)

    def partition_count(self) -> int:
        """Of the topic, as the broker says now; raises BrokerDown."""
        return self._admin.partition_count(self._topic)

    def topic_id(self) -> str:
        """The topic's identity, '' where the broker doesn't tell; raises BrokerDown."""
        return self._admin.topic_id(self._topic)

    def advise(self, offsets: dict[int, int]) -> None:
        """Commit offsets to the group without waiting; failures are harmless."""
        places = [TopicPartition(self._topic, partition, offset) for partition, offset in sorted(offsets.items())]
        try:
            if places:
                self._client.commit(offsets=places, asynchronous=True)
        except KafkaException as failure:
            _committed(reason(failure), places)

    def close(self) -> None:
        """Leave the group (revocation is told first)."""
        self._closed = True
        self._client.close()
        self._check_told()

    def __del__(self) -> None:
        """A client left to the garbage collector with a callback due hangs there for ever."""
        if not self._closed:
            self._told = _Nobody()
            self._client.close()

    # -- rebalancing: librdkafka calls these from within poll and close

    def _on_assign(self, client: Client, partitions: list[TopicPartition]) -> None:
        """The group gives us these, but the client gets none yet: only `feed` knows from where. With a stand-in for the
        offset it would fetch before it could be paused, stop for good where retention took that offset, or let a late
        answer override the seek that follows (seen: partitions that stood still)."""
        self._guarded(lambda: client.incremental_assign([]))
        numbers = sorted(one.partition for one in partitions)
        if numbers:
            self._mine.update(numbers)
            self._guarded(lambda: self._told.assigned(numbers))

    def _on_revoke(self, client: Client, partitions: list[TopicPartition]) -> None:
        self._let_go(client, partitions, self._told.revoked)

    def _on_lost(self, client: Client, partitions: list[TopicPartition]) -> None:
        self._let_go(client, partitions, self._told.lost)

    def _let_go(self, client: Client, partitions: list[TopicPartition], tell: Callable[[Sequence[int]], None]) -> None:
        """Tell first, and only then let others have them."""
        numbers = sorted(one.partition for one in partitions if one.partition in self._mine)
        if numbers:
            self._guarded(lambda: tell(numbers))
        started = [TopicPartition(self._topic, number) for number in numbers if number in self._started]
        for number in numbers:
            self._forget(number)
            for where in (self._mine, self._started, self._stopped):
                where.discard(number)
        self._guarded(lambda: client.incremental_unassign(started))

    def _guarded(self, step: Callable[[], None]) -> None:
        """Whatever escapes a callback makes the binding assign at Kafka's own offsets: keep it for the next poll."""
        self._moved = True
        try:
            step()
        except BaseException as failure:
            logger.exception("consumer of %s: a step of the rebalance failed", self._topic)
            self._broken = self._broken or failure

    def _forget(self, partition: int) -> None:
        for where in (self._wishes, self._places, self._held):
            where.pop(partition, None)

    # -- polling

    def _check(self) -> None:
        self._grumbler.check()
        self._check_told()

    def _check_told(self) -> None:
        if self._broken is not None:
            failure, self._broken = self._broken, None
            raise failure

    def _grant_wishes(self) -> None:
        for partition, place in list(self._wishes.items()):
            if self._granted(partition, place):
                del self._wishes[partition]
                self._places[partition] = place

    def _granted(self, partition: int, place: Place) -> bool:
        """False if the client isn't ready: it starts a partition some time after it got it."""
        try:
            if partition in self._stopped:
                self._drop(partition)
            if partition in self._started:
                self._seek(partition, place)
            else:
                self._start(partition, place)
        except KafkaException as failure:
            if reason(failure).code() in _NOT_YET:
                return False
            raise broker_down(failure, f"seek in {self._topic}/{partition}") from failure
        return True

    def _start(self, partition: int, place: Place) -> None:
        """With the leader epoch: the client checks that the log still is the one that was read."""
        target = TopicPartition(self._topic, partition, place.offset, leader_epoch=place.leader_epoch)
        self._client.incremental_assign([target])
        self._started.add(partition)

    def _seek(self, partition: int, place: Place) -> None:
        """Without the leader epoch: the answer to an earlier check can't be taken for an answer to this one."""
        target = TopicPartition(self._topic, partition, place.offset)
        self._client.seek(target)
        self._client.resume([target])

    def _drop(self, partition: int) -> None:
        """After a fault the client stops the partition and a seek fails for ever; it has to be started anew. Only
        then: if a revocation is under way librdkafka takes this call for the answer to it, a moment too early."""
        self._client.incremental_unassign([TopicPartition(self._topic, partition)])
        self._started.discard(partition)
        self._stopped.discard(partition)

    def _gather(self, most: int, seconds: float) -> list[Message]:
        """One by waiting, the rest from the queue: `consume` alone would wait until the batch is full."""
        try:
            first = self._client.poll(seconds)
            if first is None:
                return []
            return [first, *self._client.consume(most - 1, 0.0)] if most > 1 else [first]
        except KafkaException as failure:
            raise broker_down(failure, f"polling {self._topic}") from failure

    def _sorted(self, messages: list[Message]) -> Polled:
        """Only now, after the callbacks: a partition may have gone while its records were gathered."""
        polled = Polled([], [], [])
        for message in messages:
            partition, offset = message.partition(), message.offset()
            error = message.error()
            place = None if partition is None else self._places.get(partition)
            if error is not None:
                self._sort_error(polled, partition, offset, error)
            elif place is not None and partition is not None and offset is not None and offset >= place.offset:
                record = _record(self._topic, partition, offset, message)
                place.offset, place.leader_epoch = offset + 1, record.leader_epoch
                polled.records.append(record)
        if polled.records or polled.ends:
            self._grumbler.heard()
        return polled

    def _sort_error(self, polled: Polled, partition: int | None, offset: int | None, error: KafkaError) -> None:
        whose = -1 if partition is None else partition
        place = self._places.get(whose)
        if error.fatal():
            self._grumbler(error)  # the next poll raises; this one still has records to hand over
        elif error.code() == KafkaError._PARTITION_EOF:
            if place is not None:
                place.offset = max(place.offset, offset or 0)
                polled.ends.append(End(whose, place.offset))
        elif error.code() in _PASSING or error.retriable():
            self._grumbler(error)
        else:
            if whose in self._started:
                self._stopped.add(whose)
            if place is not None or whose < 0:
                polled.faults.append((whose, error.str()))


class _Nobody:
    """Is told when nobody listens any more."""

    def assigned(self, partitions: Sequence[int]) -> None:
        """Never read."""

    def revoked(self, partitions: Sequence[int]) -> None:
        """Nothing to save."""

    def lost(self, partitions: Sequence[int]) -> None:
        """Nothing to drop."""


def _record(topic: str, partition: int, offset: int, message: Message) -> Record:
    kind, milliseconds = message.timestamp()
    epoch = message.leader_epoch()
    return Record(
        topic,
        partition,
        offset,
        message.key(),
        message.value(),
        _headers(message.headers()),
        milliseconds if kind else -1,
        -1 if epoch is None else epoch,
    )


def _headers(given: Sequence[tuple[str, bytes | None]] | None) -> Headers:
    return [(name, value or b"") for name, value in given] if given else []


def _committed(error: KafkaError | None, places: list[TopicPartition]) -> None:
    if error is not None:
        logger.debug("advisory commit of %s: %s", places, error.str())
