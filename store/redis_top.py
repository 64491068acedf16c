"""The served sets in Redis."""

import secrets
from dataclasses import replace
from typing import NamedTuple

import msgspec

from store.books import KEPT_CHANGES, Clock, change_between, names_of, next_version
from store.connection import Connection, Value
from store.keys import Keys
from store.types import Change, Claim, TopSet
from streamsieve.errors import CorruptState, Fenced, StoreDown

ATTEMPTS = 8  # the loser of a race is fenced at its second; more would be a store that goes back and forth


class _Last(NamedTuple):
    """What is served, as far as a publisher needs it: a set of 100,000 needn't be read back every second."""

    version: int
    nonce: str
    names: tuple[str, ...]

    @property
    def tag(self) -> str:
        return f"{self.version}:{self.nonce}" if self.nonce else ""


class RedisTop:
    """Implements `store.protocol.TopStore`."""

    def __init__(self, connection: Connection, keys: Keys, clock: Clock) -> None:
        self._connection = connection
        self._keys = keys
        self._clock = clock
        self._last: dict[tuple[str, str], _Last] = {}

    def publish(self, claim: Claim, top: TopSet) -> TopSet:
        """Serve `top` under a new version and nonce; raises Fenced if a later owner has published."""
        key = (claim.shard.selector, claim.shard.incarnation)
        last = self._last.pop(key, None) or self._read_last(*key)
        for _ in range(ATTEMPTS):
            served, moved = self._publish_after(last, claim, top)
            if not moved:
                self._last[key] = _Last(served.version, served.nonce, names_of(served.features))
                return served
            last = self._read_last(*key)
        raise StoreDown(f"the served set of {key[0]} moved {ATTEMPTS} times while it was being published")

    def top(self, name: str, incarnation: str) -> TopSet | None:
        """The served set, None before the first; raises CorruptState."""
        body: bytes | None = self._connection.call("HGET", self._keys.top(name, incarnation).top, "body")
        if body is None:
            return None
        try:
            return msgspec.json.decode(body, type=TopSet)
        except msgspec.DecodeError as error:
            raise CorruptState(f"the served set of {name} is damaged: {error}") from error

    def top_version(self, name: str, incarnation: str) -> str:
        """version:nonce of the served set, '' before the first: one small read."""
        version: bytes | None = self._connection.call("GET", self._keys.top(name, incarnation).version)
        return (version or b"").decode()

    def changes(self, name: str, incarnation: str, since: int) -> list[Change]:
        """What entered and left after version `since`, in order (the last 1,000 changes are kept)."""
        key = self._keys.top(name, incarnation).changes
        stored: list[bytes] = self._connection.call("ZRANGEBYSCORE", key, f"({since}", "+inf")
        return [msgspec.json.decode(change, type=Change) for change in stored]

    def _publish_after(self, last: _Last, claim: Claim, top: TopSet) -> tuple[TopSet, bool]:
        """One attempt: the set as served, and whether another was there instead of `last`."""
        now = self._clock()
        served = replace(top, version=next_version(last.version, now), nonce=secrets.token_hex(8))
        change = change_between(last.names, names_of(served.features), served.version, now)
        arguments: list[Value] = [
            *(claim.epoch, claim.owner, last.tag, served.version, served.nonce),
            *(msgspec.json.encode(served), msgspec.json.encode(change) if change else b"", KEPT_CHANGES),
        ]
        keys = self._keys.top(claim.shard.selector, claim.shard.incarnation)
        answer = self._connection.run("publish", keys, arguments)
        if answer == b"FENCED":
            raise Fenced(f"a later owner of {claim.shard} has published; keep nothing")
        return served, bool(answer == b"MOVED")

    def _read_last(self, name: str, incarnation: str) -> _Last:
        top = self.top(name, incarnation)
        return _Last(top.version, top.nonce, names_of(top.features)) if top else _Last(0, "", ())
