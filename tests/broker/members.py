"""A member of a group that keeps what it is told and given."""

import time
from collections import defaultdict
from collections.abc import Callable, Sequence

from broker.protocol import Broker, Consumer
from broker.types import Outgoing, Record

PATIENCE = 20.0


class Member:
    """Feeds nothing by itself unless `feed_from` says from where; then it goes on where it stood when it is back."""

    def __init__(self, broker: Broker, topic: str, group: str, feed_from: int | None = None) -> None:
        self.told: list[tuple[str, list[int]]] = []
        self.mine: set[int] = set()
        self.records: dict[int, list[Record]] = defaultdict(list)
        self.ends: dict[int, list[int]] = defaultdict(list)
        self.faults: list[tuple[int, str]] = []
        self._feed_from = feed_from
        self.consumer: Consumer = broker.consumer(topic, group, self)

    def assigned(self, partitions: Sequence[int]) -> None:
        self.told.append(("assigned", list(partitions)))
        self.mine.update(partitions)
        if self._feed_from is not None:
            for partition in partitions:
                seen = self.offsets(partition)
                self.consumer.feed(partition, seen[-1] + 1 if seen else self._feed_from)

    def revoked(self, partitions: Sequence[int]) -> None:
        self.told.append(("revoked", list(partitions)))
        self.mine.difference_update(partitions)

    def lost(self, partitions: Sequence[int]) -> None:
        self.told.append(("lost", list(partitions)))
        self.mine.difference_update(partitions)

    def poll(self, most: int = 100, seconds: float = 0.05) -> list[Record]:
        polled = self.consumer.poll(most, seconds)
        for record in polled.records:
            assert record.partition in self.mine
            self.records[record.partition].append(record)
        for end in polled.ends:
            self.ends[end.partition].append(end.offset)
        self.faults.extend(polled.faults)
        return polled.records

    def offsets(self, partition: int) -> list[int]:
        return [record.offset for record in self.records[partition]]

    def forget(self) -> None:
        self.records.clear()
        self.ends.clear()
        self.faults.clear()


def until(condition: Callable[[], object], *members: Member, seconds: float = PATIENCE) -> float:
    """Poll all members in turn until the condition holds; gives the seconds it took."""
    start = time.monotonic()
    while not condition():
        assert time.monotonic() - start < seconds, [(m.told, m.mine, m.faults) for m in members]
        for member in members:
            member.poll()
    return time.monotonic() - start


def idle(member: Member, seconds: float) -> None:
    """Poll for so long, whatever comes."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        member.poll()


def numbered(topic: str, partition: int, numbers: Sequence[int]) -> list[Outgoing]:
    return [Outgoing(topic, None, str(number).encode(), [], partition) for number in numbers]
