"""The store in memory is an honest twin: whatever two owners and a peer do, it answers as Valkey does."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, precondition, rule, run_state_machine_as_test

from store.memory import MemoryStore
from store.protocol import Store
from store.redis_store import RedisStore
from store.types import Claim, Commit, Seen, ShardStatus, Stored, TopSet
from streamsieve.errors import SieveError
from tests.store.examples import SHARD, commit_on, top_set

NOW = 1_700_000_000.5
CHUNKS = st.dictionaries(st.sampled_from(["s:0", "s:1", "s:2", "n:0", "n:1"]), st.binary(max_size=4), max_size=3)
OWNERS = st.integers(0, 1)
NAMES = st.lists(st.sampled_from("abcde"), unique=True, max_size=4)


class Claims(NamedTuple):
    """One claim, as each of the two stores gave it: they differ in nothing but the nonce."""

    memory: Claim
    valkey: Claim


@dataclass
class Owner:
    claims: Claims | None = None
    loaded: Stored = field(default_factory=Stored)
    sent: Commit | None = None


@dataclass
class Peer:
    seen: Seen | None = None
    chunks: dict[str, bytes] = field(default_factory=dict)

    def follow(self, store: Store) -> object:
        """Hear, and be left with exactly what a load would give."""
        heard = store.hear(SHARD, self.seen)
        if heard is not None:
            self.chunks = {**({} if heard.whole else self.chunks), **heard.chunks}
            self.seen = heard.seen
        assert self.chunks == store.load(SHARD).chunks
        return heard and heard._replace(progress=(*heard.progress[:3], 0.0))


class Twins(RuleBasedStateMachine):
    """Does the same to both stores and compares what they say."""

    memory: Store
    valkey: Store

    def __init__(self) -> None:
        super().__init__()
        self.owners = [Owner(), Owner()]
        self.peers = (Peer(), Peer())

    def both(self, act: Callable[[Store, Claim], object], claims: Claims) -> object:
        first = outcome(lambda: act(self.memory, claims.memory))
        assert first == outcome(lambda: act(self.valkey, claims.valkey))
        return first

    @rule(owner=OWNERS)
    def claim(self, owner: int) -> None:
        claims = Claims(self.memory.claim(SHARD), self.valkey.claim(SHARD))
        assert claims.memory.epoch == claims.valkey.epoch
        loaded = self.memory.load(SHARD)
        assert loaded == self.valkey.load(SHARD)
        self.owners[owner] = Owner(claims, loaded)

    @rule(owner=OWNERS, chunks=CHUNKS, on_last=st.booleans())
    def commit(self, owner: int, chunks: dict[str, bytes], on_last: bool) -> None:
        """On what it loaded or committed last; or, forgetful, on what it loaded at first."""
        one = self.owners[owner]
        if one.claims is None:
            return
        commit = commit_on(one.loaded, chunks)
        one.sent = commit
        said = self.both(lambda store, claim: store.commit(claim, commit), one.claims)
        if said is None and on_last:
            one.loaded = Stored(commit.version, accounts=commit.accounts)

    @precondition(lambda self: any(owner.sent for owner in self.owners))
    @rule(owner=OWNERS)
    def resend(self, owner: int) -> None:
        one = self.owners[owner]
        if one.claims is not None and (commit := one.sent) is not None:
            self.both(lambda store, claim: store.commit(claim, commit), one.claims)

    @rule()
    def hear(self) -> None:
        assert self.peers[0].follow(self.memory) == self.peers[1].follow(self.valkey)

    @rule(owner=OWNERS, reason=st.sampled_from(["", "gone"]))
    def halt(self, owner: int, reason: str) -> None:
        if (claims := self.owners[owner].claims) is not None:
            self.both(lambda store, claim: store.halt(claim, reason), claims)
            self.both(lambda store, claim: store.owns(claim), claims)

    @rule(owner=OWNERS, names=NAMES)
    def publish(self, owner: int, names: list[str]) -> None:
        if (claims := self.owners[owner].claims) is not None:
            self.both(lambda store, claim: shorn(store.publish(claim, top_set(names, claim))), claims)

    @rule()
    def look(self) -> None:
        assert books(self.memory) == books(self.valkey)
        served = [shorn(store.top(*SHARD[:2])) for store in (self.memory, self.valkey)]
        assert served[0] == served[1]
        assert self.memory.changes(*SHARD[:2], 0) == self.valkey.changes(*SHARD[:2], 0)


def outcome(act: Callable[[], object]) -> object:
    try:
        return act()
    except SieveError as error:
        return type(error)


def shorn(top: TopSet | None) -> TopSet | None:
    return top and replace(top, nonce="")


def books(store: Store) -> list[ShardStatus]:
    """Without what is random, and without NaN, which equals nothing."""
    return [
        replace(status, owner=str(bool(status.owner)), progress=(*status.progress[:3], 0.0))
        for status in store.statuses(*SHARD[:2], 2)
    ]


def test_the_twins_agree(redis_url: str, redis_prefix: str) -> None:
    prefixes = (f"{redis_prefix}-{number}" for number in itertools.count())

    class Fresh(Twins):
        """Every example has a prefix of its own on the one server."""

        def __init__(self) -> None:
            super().__init__()
            self.memory = MemoryStore(lambda: NOW)
            self.valkey = RedisStore.connect(redis_url, next(prefixes), lambda: NOW)

        def teardown(self) -> None:
            self.valkey.close()

    run_state_machine_as_test(Fresh, settings=settings(max_examples=40, stateful_step_count=40, deadline=None))
