"""Shards in Redis: who owns each, what it holds."""

import secrets
from collections.abc import Mapping

from store import chunks, meta
from store.books import KEPT_VERSIONS, Clock, next_version
from store.connection import Connection, Value
from store.keys import Keys
from store.types import Claim, Commit, Heard, Seen, ShardKey, ShardStatus, Stored
from streamsieve.errors import CorruptState, Fenced, RolledBack


class RedisShards:
    """Implements `store.protocol.ShardStore`."""

    def __init__(self, connection: Connection, keys: Keys, clock: Clock) -> None:
        self._connection = connection
        self._keys = keys
        self._clock = clock

    def claim(self, shard: ShardKey) -> Claim:
        """Take the shard over: a later epoch, fresh owner. The nonce is made here, so that a resend claims once."""
        owner = secrets.token_hex(8)
        epoch = self._connection.run("claim", [self._keys.shard(shard).meta], [owner, next_version(0, self._clock())])
        return Claim(shard, int(epoch), owner)

    def load(self, shard: ShardKey) -> Stored:
        """The shard as last committed, one consistent reading; raises CorruptState."""
        books, content = self._read(shard)
        version, number = meta.seen_of(books)
        return Stored(version, number, meta.accounts_of(books), content)

    def owns(self, claim: Claim) -> bool:
        """Is the claim still good?"""
        kept = self._connection.call("HMGET", self._keys.shard(claim.shard).meta, "epoch", "owner")
        return bool(kept == [str(claim.epoch).encode(), claim.owner.encode()])

    def commit(self, claim: Claim, commit: Commit) -> None:
        """State and offset move together or not at all. Raises Fenced, RolledBack."""
        fields = meta.committed_fields(commit, self._clock())
        packed = {chunk: chunks.pack(chunk, content) for chunk, content in commit.chunks.items()}
        base_offset = "" if commit.base_offset is None else commit.base_offset
        header = (claim.owner, claim.epoch, commit.base_version, base_offset, commit.version)
        arguments = [*header, KEPT_VERSIONS, len(fields), *_flat(fields), *_flat(packed)]
        answer = self._connection.run("commit", self._keys.shard(claim.shard), arguments)
        _check(answer, claim)

    def hear(self, shard: ShardKey, seen: Seen | None) -> Heard | None:
        """What changed since `seen`; None if nothing did. An unknown version gives the whole shard."""
        if seen is None:
            return self._whole(shard)
        answer = self._connection.run("hear", self._keys.shard(shard), [seen.version, seen.number])
        if answer[0] == b"SAME":
            return None
        if answer[0] == b"WHOLE":
            return self._whole(shard)
        return _heard(_pairs(answer[1]), chunks.unpack_all(_pairs(answer[2])), whole=False)

    def halt(self, claim: Claim, reason: str) -> None:
        """Mark the shard as standing still ('' = runs again); raises Fenced."""
        key = self._keys.shard(claim.shard).meta
        _check(self._connection.run("halt", [key], [claim.owner, claim.epoch, reason]), claim)

    def statuses(self, name: str, incarnation: str, partitions: int) -> list[ShardStatus]:
        """Every partition's books, those never claimed too."""
        shards = [ShardKey(name, incarnation, partition) for partition in range(partitions)]
        books = self._connection.call_all([("HGETALL", self._keys.shard(shard).meta) for shard in shards])
        return [meta.status_of(partition, one) for partition, one in enumerate(books)]

    def hash_key(self) -> bytes:
        """The deployment's secret 16 bytes for hashing names: made at random by the first who asks."""
        self._connection.call("SET", self._keys.hash_key, secrets.token_bytes(16), "NX")
        return bytes(self._connection.call("GET", self._keys.hash_key))

    def _whole(self, shard: ShardKey) -> Heard:
        return _heard(*self._read(shard), whole=True)

    def _read(self, shard: ShardKey) -> tuple[meta.Meta, dict[str, bytes]]:
        """Everything, in one transaction: a script would copy all of it through Lua first."""
        keys = self._keys.shard(shard)
        commands = [("HGETALL", key) for key in (keys.meta, keys.state, keys.names)]
        books, state, names = map(_pairs, self._connection.call_all(commands, atomic=True))
        meta.check_count(books, len(state) + len(names))
        return books, chunks.unpack_all({**state, **names})


def _heard(books: meta.Meta, content: dict[str, bytes], whole: bool) -> Heard:
    return Heard(meta.seen_of(books), meta.accounts_of(books), content, whole, meta.progress_of(books))


def _flat(pairs: Mapping[str, bytes]) -> list[Value]:
    return [value for pair in pairs.items() for value in pair]


def _pairs(reply: list[bytes] | dict[bytes, bytes]) -> dict[bytes, bytes]:
    """A hash; flat as scripts and redis-py's cluster transactions give it, or read already."""
    return reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2], strict=True))


def _check(answer: bytes, claim: Claim) -> None:
    if answer == b"FENCED":
        raise Fenced(f"another worker owns {claim.shard}; keep nothing")
    if answer == b"ROLLED":
        raise RolledBack(f"{claim.shard} is not at what this commit builds on; reload and replay")
    if answer != b"OK":
        raise CorruptState(f"Redis gave an answer that its script doesn't have: {answer!r}")
