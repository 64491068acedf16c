"""The broker's verbs. One suite tests every implementation; nothing here knows of shards or learners."""

from collections.abc import Sequence
from typing import Protocol

from broker.types import Outgoing, Polled, Watermarks


class Assignments(Protocol):
    """Told of assignment changes from within `Consumer.poll`, in its thread. Must not raise."""

    def assigned(self, partitions: Sequence[int]) -> None:
        """These are ours now; they are held (nothing is fed) until `Consumer.feed` says from where."""

    def revoked(self, partitions: Sequence[int]) -> None:
        """These go to somebody else when this returns: the last chance for a commit, and a short one."""

    def lost(self, partitions: Sequence[int]) -> None:
        """These went already: write nothing."""


class Consumer(Protocol):
    """A member of one group on one topic, used from one thread."""

    def poll(self, most: int, seconds: float) -> Polled:
        """Wait for records, at most so many and so long. Records of a partition that is not fed, or from before
        its last `feed`, never come. Raises BrokerDown only on errors that a restart of the client may mend."""

    def feed(self, partition: int, offset: int, leader_epoch: int = -1) -> None:
        """Give out this partition's records from `offset` on (first feed, or a seek; it ends a hold). Does nothing if
        the partition isn't ours any more. May be called from within `Assignments.assigned`."""

    def hold(self, partition: int) -> None:
        """Stop giving out this partition's records; `resume` goes on where it stopped."""

    def resume(self, partition: int) -> None:
        """Go on after `hold`."""

    def watermarks(self, partition: int) -> Watermarks:
        """Asked of the broker; raises BrokerDown."""

    def partition_count(self) -> int:
        """Of the topic, as the broker says now; raises BrokerDown."""

    def topic_id(self) -> str:
        """The topic's identity, '' where the broker doesn't tell; raises BrokerDown."""

    def advise(self, offsets: dict[int, int]) -> None:
        """Commit offsets to the group without waiting: for lag tools only, failures are harmless."""

    def close(self) -> None:
        """Leave the group (revocation is told first)."""


class Producer(Protocol):
    """Idempotent, acks from all."""

    def send_all(self, records: Sequence[Outgoing], seconds: float = 30.0) -> None:
        """Return when every record is acknowledged; raises BrokerDown. A record that the broker refuses for its size
        is sent again as its first 64 KiB with headers `sieve-truncated` and `sieve-sha256`."""

    def close(self) -> None:
        """Flush and let go."""


class Broker(Protocol):
    """Makes clients; one a process."""

    def consumer(self, topic: str, group: str, told: Assignments) -> Consumer:
        """Join the group."""

    def producer(self) -> Producer:
        """A new producer."""

    def partition_count(self, topic: str) -> int:
        """0 if the topic doesn't exist; raises BrokerDown."""

    def watermarks(self, topic: str) -> dict[int, Watermarks]:
        """Of every partition, for lag; raises BrokerDown; {} if the topic doesn't exist."""

    def ensure_topic(self, topic: str, partitions: int = 1, compacted: bool = False) -> None:
        """Make the topic if it isn't there (the broker's default replication). Raises BrokerDown."""

    def ping(self) -> None:
        """Raises BrokerDown if no broker answers."""

    def close(self) -> None:
        """Let go of shared clients."""
