"""The store in this process's memory: the honest twin of the one in Redis, for tests and `sieve select`."""

import secrets
import time
from dataclasses import dataclass, field, replace
from threading import RLock

from store.books import (
    KEPT_CHANGES,
    KEPT_VERSIONS,
    NO_PROGRESS,
    Clock,
    Progress,
    change_between,
    names_of,
    next_version,
)
from store.types import (
    Accounts,
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
from streamsieve.errors import AlreadyExists, Fenced, RolledBack, UnknownSelector
from streamsieve.spec import Spec


@dataclass
class _Shard:
    epoch: int = 0
    owner: str = ""
    version: str = ""
    number: int = 0
    accounts: Accounts | None = None
    chunks: dict[str, bytes] = field(default_factory=dict)
    changed: dict[str, int] = field(default_factory=dict)  # chunk -> number of the commit that last wrote it
    versions: dict[str, int] = field(default_factory=dict)  # the last commits, version -> number
    progress: Progress = NO_PROGRESS
    committed_at: float = 0.0
    halted: str = ""

    @property
    def next_offset(self) -> int | None:
        return None if self.accounts is None else self.accounts.next_offset

    def write(self, commit: Commit, now: float) -> None:
        self.number += 1
        self.version = commit.version
        self.accounts = commit.accounts
        self.progress = commit.progress
        self.committed_at = now
        self.chunks.update(commit.chunks)
        self.changed.update(dict.fromkeys(commit.chunks, self.number))
        self.versions[commit.version] = self.number
        if len(self.versions) > KEPT_VERSIONS:
            del self.versions[next(iter(self.versions))]

    def since(self, number: int) -> dict[str, bytes]:
        return {chunk: self.chunks[chunk] for chunk, changed in self.changed.items() if changed > number}


@dataclass
class _Served:
    top: TopSet
    epoch: int
    owner: str
    changes: list[Change]


class MemoryStore:
    """Implements `store.protocol.Store` over plain dicts; any thread may call it."""

    def __init__(self, clock: Clock = time.time) -> None:
        self._clock = clock
        self._lock = RLock()
        self._live: dict[str, Registered] = {}
        self._deleted: set[str] = set()
        self._registry_version = ""
        self._shards: dict[ShardKey, _Shard] = {}
        self._served: dict[tuple[str, str], _Served] = {}
        self._hash_key = secrets.token_bytes(16)

    # Registry

    def create(self, spec: Spec) -> Registered:
        """Register under a fresh incarnation; raises AlreadyExists."""
        with self._lock:
            if spec.name in self._live:
                raise AlreadyExists(f"a selector named {spec.name} exists")
            return self._register(Registered(spec, secrets.token_hex(8)))

    def recreate(self, registered: Registered) -> None:
        """Put back an entry that the store lost; does nothing if one is there or a tombstone is."""
        with self._lock:
            if registered.spec.name not in self._live and registered.spec.name not in self._deleted:
                self._register(registered)

    def delete(self, name: str) -> None:
        """Leave a tombstone and drop all keys of the selector; raises UnknownSelector."""
        with self._lock:
            if name not in self._live:
                raise UnknownSelector(f"no selector named {name}")
            incarnation = self._live.pop(name).incarnation
            self._deleted.add(name)
            self._registry_version = secrets.token_hex(8)
            self._served.pop((name, incarnation), None)
            for key in [key for key in self._shards if key[:2] == (name, incarnation)]:
                del self._shards[key]

    def registry(self) -> Registry:
        """All of them."""
        with self._lock:
            return Registry(dict(self._live), frozenset(self._deleted))

    def registry_version(self) -> str:
        """Differs whenever `registry` would; '' where the store is empty."""
        with self._lock:
            return self._registry_version

    def set_partitions(self, name: str, incarnation: str, partitions: int) -> None:
        """Tell how many partitions the topic has; ignored for another incarnation."""
        with self._lock:
            entry = self._live.get(name)
            if entry is not None and entry.incarnation == incarnation and entry.partitions != partitions:
                self._register(entry._replace(partitions=partitions))

    def _register(self, registered: Registered) -> Registered:
        name = registered.spec.name
        self._live[name] = registered
        self._deleted.discard(name)
        self._registry_version = secrets.token_hex(8)
        return registered

    # Shards

    def claim(self, shard: ShardKey) -> Claim:
        """Take the shard over: a later epoch, fresh owner."""
        with self._lock:
            kept = self._shards.setdefault(shard, _Shard())
            kept.epoch = next_version(kept.epoch, self._clock())
            kept.owner = secrets.token_hex(8)
            return Claim(shard, kept.epoch, kept.owner)

    def load(self, shard: ShardKey) -> Stored:
        """The shard as last committed, one consistent reading."""
        with self._lock:
            kept = self._shards.get(shard, _Shard())
            return Stored(kept.version, kept.number, kept.accounts, dict(kept.chunks))

    def owns(self, claim: Claim) -> bool:
        """Is the claim still good?"""
        with self._lock:
            kept = self._shards.get(claim.shard, _Shard())
            return (kept.epoch, kept.owner) == (claim.epoch, claim.owner)

    def commit(self, claim: Claim, commit: Commit) -> None:
        """State and offset move together or not at all. Raises Fenced, RolledBack."""
        with self._lock:
            kept = self._owned(claim)
            if kept.version == commit.version:
                return
            if (kept.version, kept.next_offset) != (commit.base_version, commit.base_offset):
                raise RolledBack(f"{claim.shard} is not at what this commit builds on; reload and replay")
            kept.write(commit, self._clock())

    def hear(self, shard: ShardKey, seen: Seen | None) -> Heard | None:
        """What changed since `seen`; None if nothing did. An unknown version gives the whole shard."""
        with self._lock:
            kept = self._shards.get(shard, _Shard())
            now = Seen(kept.version, kept.number)
            if seen == now:
                return None
            known = seen is not None and kept.versions.get(seen.version) == seen.number
            chunks = kept.since(seen.number) if seen is not None and known else dict(kept.chunks)
            return Heard(now, kept.accounts, chunks, not known, kept.progress)

    def halt(self, claim: Claim, reason: str) -> None:
        """Mark the shard as standing still ('' = runs again); raises Fenced."""
        with self._lock:
            self._owned(claim).halted = reason

    def statuses(self, name: str, incarnation: str, partitions: int) -> list[ShardStatus]:
        """Every partition's books, those never claimed too."""
        with self._lock:
            return [self._status(ShardKey(name, incarnation, partition)) for partition in range(partitions)]

    def hash_key(self) -> bytes:
        """The deployment's secret 16 bytes for hashing names."""
        return self._hash_key

    def _owned(self, claim: Claim) -> _Shard:
        if not self.owns(claim):
            raise Fenced(f"another worker owns {claim.shard}; keep nothing")
        return self._shards[claim.shard]

    def _status(self, key: ShardKey) -> ShardStatus:
        kept = self._shards.get(key, _Shard())
        return ShardStatus(
            partition=key.partition,
            accounts=kept.accounts,
            progress=kept.progress,
            owner=kept.owner,
            epoch=kept.epoch,
            committed_at=kept.committed_at,
            halted=kept.halted,
        )

    # Served sets

    def publish(self, claim: Claim, top: TopSet) -> TopSet:
        """Serve `top` under a new version and nonce; raises Fenced if a later owner has published."""
        with self._lock:
            key = (claim.shard.selector, claim.shard.incarnation)
            before = self._served.get(key)
            if before is not None and not _may_follow(claim, before):
                raise Fenced(f"a later owner of {claim.shard} has published; keep nothing")
            now = self._clock()
            version = next_version(before.top.version if before else 0, now)
            served = replace(top, version=version, nonce=secrets.token_hex(8))
            names = names_of(before.top.features) if before else ()
            change = change_between(names, names_of(top.features), version, now)
            history = (before.changes if before else []) + ([change] if change else [])
            self._served[key] = _Served(served, claim.epoch, claim.owner, history[-KEPT_CHANGES:])
            return served

    def top(self, name: str, incarnation: str) -> TopSet | None:
        """The served set, None before the first."""
        with self._lock:
            served = self._served.get((name, incarnation))
            return served.top if served else None

    def top_version(self, name: str, incarnation: str) -> str:
        """version:nonce of the served set, '' before the first."""
        top = self.top(name, incarnation)
        return f"{top.version}:{top.nonce}" if top else ""

    def changes(self, name: str, incarnation: str, since: int) -> list[Change]:
        """What entered and left after version `since`, in order."""
        with self._lock:
            served = self._served.get((name, incarnation))
            return [change for change in served.changes if change.version > since] if served else []

    # Pulse

    def ping(self) -> None:
        """Always answers."""

    def close(self) -> None:
        """Nothing to let go of."""


def _may_follow(claim: Claim, served: _Served) -> bool:
    return claim.epoch > served.epoch or (claim.epoch, claim.owner) == (served.epoch, served.owner)
