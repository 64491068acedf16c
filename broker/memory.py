"""The broker in memory: an honest twin of Kafka for tests and for runs in one process.

Partitions, offsets, groups that rebalance cooperatively (a partition moves only after its holder let it go) and
everything that `broker.protocol` promises. What a test wants to see go wrong has a verb of its own: `skip`, `trim`,
`remake`, `grow`, `expire`, `down`.
"""

import threading
import time
import zlib
from bisect import bisect_left
from collections.abc import Sequence
from uuid import uuid4

from broker.groups import Group
from broker.protocol import Assignments
from broker.truncation import truncated
from broker.types import End, Outgoing, Polled, Record, Watermarks
from streamsieve.errors import BrokerDown

DEFAULT_MAX_BYTES = 1_048_588  # Apache Kafka's message.max.bytes


class Log:
    """One partition: records in offset order, with gaps where offsets hold none."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.low = 0
        self.high = 0

    def append(self, record: Record) -> None:
        """Give the record the next offset."""
        self.records.append(record._replace(offset=self.high))
        self.high += 1

    def read(self, offset: int, most: int) -> list[Record]:
        """At most so many records from `offset` on."""
        first = self._place(offset)
        return self.records[first : first + most]

    def trim(self, low: int) -> None:
        """Forget what lies before `low`, as retention does."""
        self.records = self.records[self._place(low) :]
        self.low = low

    def _place(self, offset: int) -> int:
        """Index of the first record at or after `offset`."""
        return bisect_left(self.records, offset, key=lambda record: record.offset)


class Topic:
    """Its identity and its partitions."""

    def __init__(self, name: str, partitions: int) -> None:
        self.name = name
        self.identity = uuid4().hex
        self.logs = [Log() for _ in range(partitions)]


class MemoryBroker:
    """Topics and groups of one process; any thread may use it, each consumer from one thread only."""

    def __init__(self, max_bytes: int = DEFAULT_MAX_BYTES, default_partitions: int = 1) -> None:
        self.changed = threading.Condition()
        self.max_bytes = max_bytes
        self._default_partitions = default_partitions
        self._topics: dict[str, Topic] = {}
        self._groups: dict[tuple[str, str], Group[MemoryConsumer]] = {}
        self._down = False

    # -- what broker.protocol.Broker asks for

    def consumer(self, topic: str, group: str, told: Assignments) -> "MemoryConsumer":
        """Join the group; the topic is made if it isn't there, as a Kafka with automatic topics does."""
        with self.changed:
            members = self._groups.setdefault((topic, group), Group(len(self.topic(topic).logs)))
            consumer = MemoryConsumer(self, topic, members, told)
            self.changed.notify_all()
        return consumer

    def producer(self) -> "MemoryProducer":
        """A new producer."""
        return MemoryProducer(self)

    def partition_count(self, topic: str) -> int:
        """0 if the topic doesn't exist."""
        return len(self.watermarks(topic))

    def watermarks(self, topic: str) -> dict[int, Watermarks]:
        """Of every partition; {} if the topic doesn't exist."""
        with self.changed:
            self.check_up()
            known = self._topics.get(topic)
            return {p: Watermarks(log.low, log.high) for p, log in enumerate(known.logs)} if known else {}

    def ensure_topic(self, topic: str, partitions: int = 1, compacted: bool = False) -> None:
        """Make the topic if it isn't there. Nothing is ever compacted here: no reader may rely on it."""
        with self.changed:
            self.check_up()
            self._topics.setdefault(topic, Topic(topic, partitions))
            self._recount(topic)

    def ping(self) -> None:
        """Raises BrokerDown while `down`."""
        with self.changed:
            self.check_up()

    def close(self) -> None:
        """Nothing to let go of."""

    # -- what clients of this module use, with `changed` held

    def check_up(self) -> None:
        """Raises BrokerDown while `down`."""
        if self._down:
            raise BrokerDown("the broker in memory was told to be down")

    def reachable(self) -> bool:
        """False while `down`."""
        return not self._down

    def topic(self, name: str) -> Topic:
        """The topic, made if it isn't there."""
        if name not in self._topics:
            self._topics[name] = Topic(name, self._default_partitions)
        return self._topics[name]

    # -- what only tests use

    def skip(self, topic: str, partition: int, offsets: int) -> None:
        """Let the next `offsets` offsets hold no record, as transaction markers and compaction do."""
        with self.changed:
            self.topic(topic).logs[partition].high += offsets
            self.changed.notify_all()

    def trim(self, topic: str, partition: int, low: int) -> None:
        """Forget the records before `low`, as retention does."""
        with self.changed:
            self.topic(topic).logs[partition].trim(low)
            self.changed.notify_all()

    def remake(self, topic: str) -> None:
        """Delete the topic and make it anew: same name, another identity, offsets from 0."""
        with self.changed:
            self._topics[topic] = Topic(topic, len(self.topic(topic).logs))
            self.changed.notify_all()

    def grow(self, topic: str, partitions: int) -> None:
        """Add partitions up to so many."""
        with self.changed:
            logs = self.topic(topic).logs
            logs.extend(Log() for _ in range(partitions - len(logs)))
            self._recount(topic)

    def expire(self, consumer: "MemoryConsumer") -> None:
        """Let the member's session run out, as if it were frozen: it hears `lost` in its next poll and joins again."""
        with self.changed:
            consumer.group.leave(consumer)
            self.changed.notify_all()

    def down(self, is_down: bool = True) -> None:
        """Stop answering (or answer again): calls raise BrokerDown, polls bring nothing."""
        with self.changed:
            self._down = is_down
            self.changed.notify_all()

    def records(self, topic: str, partition: int | None = None) -> list[Record]:
        """All that the topic (or one partition) holds."""
        with self.changed:
            logs = self.topic(topic).logs
            return [r for p, log in enumerate(logs) if partition in (None, p) for r in log.records]

    def _recount(self, topic: str) -> None:
        for (name, _), group in self._groups.items():
            if name == topic:
                group.resize(len(self.topic(topic).logs))
        self.changed.notify_all()


class Place:
    """Where a consumer stands in a partition that it was told to feed."""

    def __init__(self, offset: int) -> None:
        self.offset = offset
        self.held = False
        self.reported: int | None = None  # the end (or the offset out of range) that was told already


class MemoryConsumer:
    """A member of one group on one topic."""

    def __init__(self, broker: MemoryBroker, topic: str, group: "Group[MemoryConsumer]", told: Assignments) -> None:
        self.group = group
        self._broker = broker
        self._topic = topic
        self._told = told
        self._mine: set[int] = set()
        self._places: dict[int, Place] = {}
        self._turn = 0
        group.join(self)

    def poll(self, most: int, seconds: float) -> Polled:
        """Wait for records, at most so many and so long."""
        deadline = time.monotonic() + seconds
        while True:
            moved = self._rebalance()
            with self._broker.changed:
                polled = self._fetch(most)
                left = deadline - time.monotonic()
                if any(polled) or moved or left <= 0:
                    return polled
                if not self._must_rebalance():
                    self._broker.changed.wait(left)

    def feed(self, partition: int, offset: int, leader_epoch: int = -1) -> None:
        """Give out this partition's records from `offset` on; ignored if it isn't ours."""
        if partition in self._mine:
            self._places[partition] = Place(offset)

    def hold(self, partition: int) -> None:
        """Stop giving out this partition's records."""
        if partition in self._places:
            self._places[partition].held = True

    def resume(self, partition: int) -> None:
        """Go on after `hold`."""
        if partition in self._places:
            self._places[partition].held = False

    def watermarks(self, partition: int) -> Watermarks:
        """First and next offset."""
        return self._broker.watermarks(self._topic)[partition]

    def partition_count(self) -> int:
        """Of the topic."""
        return len(self._broker.watermarks(self._topic))

    def topic_id(self) -> str:
        """The topic's identity."""
        with self._broker.changed:
            self._broker.check_up()
            return self._broker.topic(self._topic).identity

    def advise(self, offsets: dict[int, int]) -> None:
        """Remember the group's offsets."""
        with self._broker.changed:
            self.group.advised.update(offsets)

    def close(self) -> None:
        """Leave the group (revocation is told first)."""
        try:
            self._let_go(sorted(self._mine))
        finally:
            with self._broker.changed:
                self.group.leave(self)
                self._broker.changed.notify_all()

    def _must_rebalance(self) -> bool:
        return not self.group.knows(self) or any(self.group.moves(self))

    def _rebalance(self) -> bool:
        """True if anything was told: the caller may want to feed what came."""
        with self._broker.changed:
            if not self._broker.reachable():
                return False
            expired = not self.group.knows(self)
            if expired:
                self.group.join(self)
            going, _ = self.group.moves(self)
        if expired:
            self._lose()
        if going:
            self._let_go(going)
        with self._broker.changed:
            _, coming = self.group.moves(self)
            self.group.take(self, coming)
            self._broker.changed.notify_all()
        if coming:
            self._mine.update(coming)
            self._told.assigned(coming)
        return expired or bool(going or coming)

    def _lose(self) -> None:
        gone = sorted(self._mine)
        self._forget(gone)
        if gone:
            self._told.lost(gone)

    def _let_go(self, going: list[int]) -> None:
        """Tell first, and only then free them for others."""
        try:
            if going:
                self._told.revoked(going)
        finally:
            self._forget(going)
            with self._broker.changed:
                self.group.give(self, going)
                self._broker.changed.notify_all()

    def _forget(self, partitions: Sequence[int]) -> None:
        for partition in partitions:
            self._mine.discard(partition)
            self._places.pop(partition, None)

    def _fetch(self, most: int) -> Polled:
        polled = Polled([], [], [])
        if not self._broker.reachable():
            return polled
        logs = self._broker.topic(self._topic).logs
        self._turn += 1
        order = sorted(self._places)
        for i in range(len(order)):
            partition = order[(i + self._turn) % len(order)]
            if not self._places[partition].held:
                _read(polled, partition, logs[partition], self._places[partition], most)
        return polled


def _read(polled: Polled, partition: int, log: Log, place: Place, most: int) -> None:
    """Move one partition's records into `polled`; tell its end, or that its offset is out of range, once."""
    if not log.low <= place.offset <= log.high:
        if place.reported != place.offset:
            place.reported = place.offset
            polled.faults.append((partition, f"offset {place.offset} out of range [{log.low}, {log.high}]"))
        return
    wanted = most - len(polled.records)
    records = log.read(place.offset, wanted)
    polled.records.extend(records)
    if len(records) < wanted:
        place.offset = log.high
        if place.reported != log.high:
            place.reported = log.high
            polled.ends.append(End(partition, log.high))
    elif records:
        place.offset = records[-1].offset + 1


class MemoryProducer:
    """Appends to the logs of its broker."""

    def __init__(self, broker: MemoryBroker) -> None:
        self._broker = broker
        self._turn = 0

    def send_all(self, records: Sequence[Outgoing], seconds: float = 30.0) -> None:
        """Append them all; one that is too large goes as its first 64 KiB."""
        with self._broker.changed:
            self._broker.check_up()
            for record in records:
                self._append(record if _size(record) <= self._broker.max_bytes else truncated(record))
            self._broker.changed.notify_all()

    def close(self) -> None:
        """Nothing to flush."""

    def _append(self, out: Outgoing) -> None:
        logs = self._broker.topic(out.topic).logs
        partition = self._partition(out, len(logs))
        now = time.time_ns() // 1_000_000
        logs[partition].append(Record(out.topic, partition, -1, out.key, out.value, list(out.headers), now, 0))

    def _partition(self, out: Outgoing, partitions: int) -> int:
        if out.partition is not None:
            return out.partition
        if out.key:
            return zlib.crc32(out.key) % partitions  # librdkafka's default, `consistent_random`
        self._turn += 1
        return self._turn % partitions


def _size(record: Outgoing) -> int:
    headers = sum(len(name) + len(value) for name, value in record.headers)
    return len(record.key or b"") + len(record.value or b"") + headers
