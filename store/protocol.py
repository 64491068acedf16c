"""The store's verbs. One suite tests every implementation.

Any verb may raise StoreDown; then nothing is known of whether it was carried out, and sending it again is safe.
"""

from typing import Protocol

from store.types import (
    Change,
    Claim,
    Commit,
    Heard,
    Registered,
    Registry,
    Seen,
    ShardKey,
    ShardStatus,
    Stored,
    TopSet,
)
from streamsieve.spec import Spec


class RegistryStore(Protocol):
    """Selectors by name."""

    def create(self, spec: Spec) -> Registered:
        """Register under a fresh incarnation; raises AlreadyExists. A tombstone of that name goes away."""

    def recreate(self, registered: Registered) -> None:
        """Put back an entry that a worker holds but the store lost; does nothing if one is there or a tombstone is."""

    def delete(self, name: str) -> None:
        """Leave a tombstone and drop all keys of the selector; raises UnknownSelector."""

    def registry(self) -> Registry:
        """All of them."""

    def registry_version(self) -> str:
        """A small value that differs whenever `registry` would; '' where the store is empty."""

    def set_partitions(self, name: str, incarnation: str, partitions: int) -> None:
        """Tell how many partitions the topic has; ignored for another incarnation."""


class ShardStore(Protocol):
    """Shards: who owns each, what it holds. The commit protocol of docs/ARCHITECTURE.md."""

    def claim(self, shard: ShardKey) -> Claim:
        """Take the shard over: a later epoch (at least the clock in ms), fresh owner. Every earlier claim is void."""

    def load(self, shard: ShardKey) -> Stored:
        """The shard as last committed, one consistent reading; raises CorruptState."""

    def owns(self, claim: Claim) -> bool:
        """Is the claim still good? Asked after loading, before feeding."""

    def commit(self, claim: Claim, commit: Commit) -> None:
        """State and offset move together or not at all. Raises Fenced, RolledBack."""

    def hear(self, shard: ShardKey, seen: Seen | None) -> Heard | None:
        """What changed since `seen`; None if nothing did. An unknown version gives the whole shard."""

    def halt(self, claim: Claim, reason: str) -> None:
        """Mark the shard as standing still ('' = runs again); raises Fenced."""

    def statuses(self, name: str, incarnation: str, partitions: int) -> list[ShardStatus]:
        """Every partition's books, those never claimed too."""

    def hash_key(self) -> bytes:
        """The deployment's secret 16 bytes for hashing names: made at random by the first who asks."""


class TopStore(Protocol):
    """The served sets."""

    def publish(self, claim: Claim, top: TopSet) -> TopSet:
        """Serve `top`; raises Fenced if a later owner of partition 0 has published. Its version is set here, larger
        than any before (at least the wall clock in ms), and its nonce; what entered and left goes into the history."""

    def top(self, name: str, incarnation: str) -> TopSet | None:
        """The served set, None before the first."""

    def top_version(self, name: str, incarnation: str) -> str:
        """version:nonce of the served set, '' before the first: one small read."""

    def changes(self, name: str, incarnation: str, since: int) -> list[Change]:
        """What entered and left after version `since`, in order (the last 1,000 changes are kept)."""


class Store(RegistryStore, ShardStore, TopStore, Protocol):
    """All three, and a pulse."""

    def ping(self) -> None:
        """Raises StoreDown if the store does not answer."""

    def close(self) -> None:
        """Let go of connections."""
