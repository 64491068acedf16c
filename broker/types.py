"""What the broker gives and takes, as plain values."""

from typing import NamedTuple

Headers = list[tuple[str, bytes]]


class Record(NamedTuple):
    """One Kafka record. `value` None is a tombstone."""

    topic: str
    partition: int
    offset: int
    key: bytes | None
    value: bytes | None
    headers: Headers
    timestamp: int  # ms since 1970, -1 where unknown
    leader_epoch: int  # -1 where unknown


class End(NamedTuple):
    """Everything before `offset` of the partition has been given out (markers at the tail included)."""

    partition: int
    offset: int


class Watermarks(NamedTuple):
    """The first offset that the log still holds, and the one after its last."""

    low: int
    high: int


class Polled(NamedTuple):
    """What one poll brought, each partition in offset order."""

    records: list[Record]
    ends: list[End]
    faults: list[tuple[int, str]]  # partition (-1: all), what the client said; out of range is one


class Outgoing(NamedTuple):
    """A record to send. partition None: the key decides."""

    topic: str
    key: bytes | None
    value: bytes | None
    headers: Headers
    partition: int | None = None
