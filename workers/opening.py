"""Taking a partition over: claim, load, check against the log. Says where to read from, or why not."""

import logging
import secrets
from collections.abc import Callable
from typing import NamedTuple

from broker.types import Watermarks
from store.protocol import ShardStore
from store.types import Accounts, Claim, Commit, ShardKey, Stored
from streamsieve.decode.decoder import Decoder
from streamsieve.errors import Fenced
from streamsieve.learners.making import make_learner
from streamsieve.spec import Spec
from workers.shard import Shard

log = logging.getLogger(__name__)


class Log(NamedTuple):
    """The partition as the broker describes it."""

    marks: Watermarks
    topic_id: str


class Opener:
    """Makes shards of one selector."""

    def __init__(
        self, spec: Spec, incarnation: str, store: ShardStore, hash_key: bytes, clock: Callable[[], float]
    ) -> None:
        self._spec = spec
        self._incarnation = incarnation
        self._store = store
        self._hash_key = hash_key
        self._clock = clock
        self._decoder = Decoder(spec.format, spec.labels, spec.all_limits(), hash_key)

    def claim(self, partition: int) -> Claim:
        """Once an assignment, and no more: or a woken zombie and the owner would fence each other in turn."""
        return self._store.claim(ShardKey(self._spec.name, self._incarnation, partition))

    def open(self, claim: Claim, log_: Log, shared: bool) -> Shard:
        """The shard as last committed, its first books written if there are none. Raises Fenced, StoreDown."""
        stored = self._store.load(claim.shard)
        if not self._store.owns(claim):
            raise Fenced(f"{claim.shard} was claimed by another worker while it was loaded")
        if stored.accounts is None:
            stored = self._begin(claim, stored, log_)
        learner = make_learner(self._spec, self._hash_key, shared=shared)
        learner.restore(stored.chunks)
        return Shard(claim, learner, self._decoder, stored, self._clock())

    def _begin(self, claim: Claim, stored: Stored, log_: Log) -> Stored:
        """Write down where this partition begins, before anything else can arrive in it."""
        first = log_.marks.high if self._spec.start == "latest" else log_.marks.low
        accounts = Accounts(first, first, topic_id=log_.topic_id)
        version = secrets.token_hex(8)
        self._store.commit(claim, Commit(stored.version, None, version, accounts, {}))
        return Stored(version, stored.number + 1, accounts)


def standstill(accounts: Accounts, log_: Log) -> str:
    """Why this partition can't be read on from where the state stands; '' if it can."""
    if accounts.topic_id and log_.topic_id and accounts.topic_id != log_.topic_id:
        return f"the topic was made anew (its id was {accounts.topic_id}, now {log_.topic_id})"
    if accounts.next_offset < log_.marks.low:
        return f"offset {accounts.next_offset} is no longer in the log, which begins at {log_.marks.low}"
    if accounts.next_offset > log_.marks.high:
        return f"offset {accounts.next_offset} is past the log's end {log_.marks.high}: it was truncated or made anew"
    return ""
