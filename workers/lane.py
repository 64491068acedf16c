"""One selector in this process: one group member, one thread, the shards of the partitions that it was given."""

import logging
import time
from collections.abc import Callable, Sequence
from itertools import groupby
from typing import NamedTuple

from broker.protocol import Broker, Consumer
from broker.types import Record
from store.protocol import Store
from store.types import Accounts, Claim, Registered
from streamsieve.errors import BrokerDown, Fenced, RolledBack, SieveError, StoreDown
from workers.metrics import WorkerMetrics
from workers.opening import Log, Opener, standstill
from workers.policy import CommitPolicy, untold_allowance
from workers.serving import Serving, predicts_with_peers
from workers.shard import Shard

log = logging.getLogger(__name__)

POLL_RECORDS = 5_000
POLL_SECONDS = 0.1
RETRY_SECONDS = 0.5
ADVISE_SECONDS = 5.0
COUNT_SECONDS = 30.0
REVOKE_SECONDS = 2.0  # a revocation holds up the whole group


class Deployment(NamedTuple):
    """What all lanes of a process share."""

    store: Store
    broker: Broker
    metrics: WorkerMetrics
    prefix: str = "sieve"
    policy: CommitPolicy = CommitPolicy()
    clock: Callable[[], float] = time.time


Known = dict[int, Accounts]  # the books of each partition as this process last knew them to be committed


class Lane:
    """Reads, learns, commits. `run` returns when told to stop or when the group has to be joined anew."""

    def __init__(
        self,
        registered: Registered,
        deployment: Deployment,
        partitions: int,
        known: Known,
        stopping: Callable[[], bool],
    ) -> None:
        self.spec = registered.spec
        self._known = known
        self._registered = registered
        self._store = deployment.store
        self._metrics = deployment.metrics
        self._policy = deployment.policy
        self._clock = deployment.clock
        self._partitions = partitions
        self._stopping = stopping
        self._shared = predicts_with_peers(registered.spec, partitions)
        key = self._store.hash_key()
        self._opener = Opener(self.spec, registered.incarnation, self._store, key, self._clock)
        self._producer = deployment.broker.producer()
        self._serving = Serving(
            registered, partitions, self._store, self._producer, self._clock, key, self._policy.publish_interval
        )
        self._arrivals: dict[int, Claim | None] = {}
        self._shards: dict[int, Shard] = {}
        self._waiting: dict[int, float] = {}  # partition -> when to try again
        self._halted: set[int] = set()
        self._rejoin = False
        self._advised_at = self._retry_at = 0.0
        self._counted_at = self._clock()
        self._consumer: Consumer = deployment.broker.consumer(
            self.spec.topic, f"{deployment.prefix}.{self.spec.name}", self
        )

    def run(self) -> None:
        """Until stopped, or until another worker fenced us."""
        try:
            while not self._stopping() and not self._rejoin:
                self.turn()
        finally:
            self._consumer.close()
            self._producer.close()

    def turn(self) -> None:
        """Poll, learn, commit what is due, serve."""
        polled = self._consumer.poll(POLL_RECORDS, POLL_SECONDS)
        self._open_arrivals()
        for partition, records in groupby(polled.records, key=lambda record: record.partition):
            self._learn(partition, list(records))
        for end in polled.ends:
            if end.partition in self._running():
                self._shards[end.partition].reach(end.offset)
        for partition, text in polled.faults:
            self._fault(partition, text)
        self._settle_due()
        self._retry_waiting()
        self._serve()
        self._advise()

    # Assignment: told from within `poll`, in this thread.

    def assigned(self, partitions: Sequence[int]) -> None:
        """Open them in the next turn: claiming and loading take time, and may have to wait for the store."""
        self._arrivals.update(dict.fromkeys(partitions))
        self._rejoin |= max(partitions, default=0) >= self._partitions  # the topic has grown

    def revoked(self, partitions: Sequence[int]) -> None:
        """One last, bounded commit; then they are somebody else's."""
        for partition in partitions:
            shard = self._forget(partition)
            if shard is not None and shard.changed:
                self._last_commit(shard)

    def lost(self, partitions: Sequence[int]) -> None:
        """Somebody else has them already: keep nothing, write nothing."""
        for partition in partitions:
            self._forget(partition)

    def _forget(self, partition: int) -> Shard | None:
        self._arrivals.pop(partition, None)
        self._waiting.pop(partition, None)
        self._halted.discard(partition)
        self._metrics.halted.labels(self.spec.name, partition).set(0)
        self._serving.forget(partition)
        return self._shards.pop(partition, None)

    def _last_commit(self, shard: Shard) -> None:
        try:
            self._producer.send_all(shard.rejected, seconds=REVOKE_SECONDS)
            self._store.commit(shard.claim, shard.checkpoint())
        except SieveError as error:
            # The next owner replays from the last commit: slower, never wrong.
            log.warning("%s/%d: no commit at revocation: %s", self.spec.name, shard.partition, error)

    # Opening: claim, load, check, feed.

    def _open_arrivals(self) -> None:
        if not self._arrivals or self._clock() < self._retry_at:
            return
        for partition in list(self._arrivals):
            try:
                self._open(partition)
            except Fenced as error:
                self._fenced(partition, error)
            except (StoreDown, BrokerDown) as error:
                log.warning("%s/%d: not opened yet: %s", self.spec.name, partition, error)
                self._retry_at = self._clock() + RETRY_SECONDS
                return

    def _open(self, partition: int) -> None:
        described = Log(self._consumer.watermarks(partition), self._consumer.topic_id())
        claim = self._arrivals[partition] or self._opener.claim(partition)
        self._arrivals[partition] = claim
        shard = self._opener.open(claim, described, self._shared)
        del self._arrivals[partition]
        self._shards[partition] = shard
        self._serving.opened(shard)
        reason = standstill(shard.accounts, described) or self._lost_for_good(partition, shard.accounts)
        if reason:
            self._halt(partition, reason)
            return
        self._store.halt(claim, "")
        self._feed(shard)
        log.info("%s/%d: reads from offset %d", self.spec.name, partition, shard.accounts.next_offset)

    def _lost_for_good(self, partition: int, opened: Accounts) -> str:
        """The store has forgotten what we know was committed: never a silent restart from zero."""
        known = self._known.get(partition)
        if known is None or opened.next_offset > opened.first_offset or known.next_offset == known.first_offset:
            return ""
        self._metrics.store_emptied.labels(self.spec.name).inc()
        log.critical("%s/%d: the store lost offset %d; rebuilding", self.spec.name, partition, known.next_offset)
        if opened.first_offset <= known.first_offset:
            return ""
        return f"the store was emptied and the log begins at {opened.first_offset}, after {known.first_offset}"

    def _feed(self, shard: Shard) -> None:
        self._consumer.feed(shard.partition, shard.accounts.next_offset, shard.accounts.leader_epoch)

    # Learning.

    def _running(self) -> set[int]:
        return self._shards.keys() - self._waiting.keys() - self._halted

    def _learn(self, partition: int, records: list[Record]) -> None:
        """Apply in slices, so that what the peers don't know stays within the allowance."""
        shard = self._shards.get(partition)
        while records and shard is not None and partition in self._running():
            slice_ = records[: self._allowance(shard)]
            records = records[len(slice_) :]
            with self._metrics.learn_seconds.labels(self.spec.name).time():
                letters = shard.apply(slice_)
            self._count(partition, len(slice_) - len(letters), [dict(letter.headers) for letter in letters])
            if self._full(shard):
                self._settle(shard)
                shard = self._shards.get(partition)

    def _allowance(self, shard: Shard) -> int:
        """In records. A record's samples can't be parted, so records of many samples may go over it by one record."""
        return max(1, self._untold_limit(shard) - shard.untold) if self._shared else POLL_RECORDS

    def _untold_limit(self, shard: Shard) -> int:
        told = shard.accounts.samples + self._serving.samples_heard(shard.partition)
        return untold_allowance(told, self._partitions, self.spec.half_life, self.spec.steady)

    def _full(self, shard: Shard) -> bool:
        return (
            (self._shared and shard.untold >= self._untold_limit(shard))
            or shard.learner.dirty_bytes() > self._policy.dirty_bytes
            or shard.rejected_bytes > self._policy.rejected_bytes
        )

    def _count(self, partition: int, applied: int, refused: list[dict[str, bytes]]) -> None:
        self._metrics.applied.labels(self.spec.name, partition).inc(applied)
        for headers in refused:
            self._metrics.dead.labels(self.spec.name, partition, headers["sieve-reason"].decode()).inc()

    # Committing.

    def _settle_due(self) -> None:
        now = self._clock()
        for partition in sorted(self._running()):
            shard = self._shards.get(partition)
            if shard is not None and shard.changed and now - shard.committed_at >= self._policy.interval:
                self._settle(shard)

    def _settle(self, shard: Shard) -> bool:
        """Did the commit go through?"""
        try:
            with self._metrics.commit_seconds.labels(self.spec.name).time():
                self._producer.send_all(shard.rejected, seconds=5.0)  # 1. nothing refused is lost
                self._store.commit(shard.claim, shard.checkpoint())  # 2. state and offset move together or not at all
            shard.settled(self._clock())
            self._committed(shard)
        except Fenced as error:
            self._fenced(shard.partition, error)
        except RolledBack as error:
            self._reload(shard, error)
        except (StoreDown, BrokerDown) as error:
            self._wait(shard, error)
        else:
            return True
        return False

    def _committed(self, shard: Shard) -> None:
        self._known[shard.partition] = shard.accounts
        self._metrics.commits.labels(self.spec.name, shard.partition).inc()
        self._metrics.next_offset.labels(self.spec.name, shard.partition).set(shard.accounts.next_offset)
        if self._shared:
            with self._metrics.exchange_seconds.labels(self.spec.name).time():
                self._serving.exchange(shard)

    def _wait(self, shard: Shard, error: SieveError) -> None:
        """Feed nothing more until the commit, resent as it is, goes through; polling goes on meanwhile."""
        if shard.partition not in self._waiting:
            log.warning("%s/%d: waits: %s", self.spec.name, shard.partition, error)
            self._consumer.hold(shard.partition)
        self._waiting[shard.partition] = self._clock() + RETRY_SECONDS

    def _retry_waiting(self) -> None:
        for partition, when in list(self._waiting.items()):
            if self._clock() < when:
                continue
            shard = self._shards[partition]
            if self._settle(shard):
                del self._waiting[partition]
                log.info("%s/%d: goes on", self.spec.name, partition)
                self._feed(shard)

    def _fenced(self, partition: int, error: Fenced) -> None:
        """Drop everything, give the partition up, join anew: never a second claim in one assignment."""
        log.warning("%s/%d: fenced: %s", self.spec.name, partition, error)
        self._metrics.fenced.labels(self.spec.name, partition).inc()
        self._forget(partition)
        self._rejoin = True

    def _reload(self, shard: Shard, error: RolledBack) -> None:
        """The store went back: state and offset went together, so replay from there."""
        log.error("%s/%d: the store went back, replaying: %s", self.spec.name, shard.partition, error)
        self._metrics.rolled_back.labels(self.spec.name, shard.partition).inc()
        self._consumer.hold(shard.partition)
        self._forget(shard.partition)
        self._arrivals[shard.partition] = shard.claim

    # Standing still, serving, telling.

    def _fault(self, partition: int, text: str) -> None:
        if partition in self._running():
            self._halt(partition, text)
        elif partition < 0:
            log.error("%s: %s", self.spec.name, text)

    def _halt(self, partition: int, reason: str) -> None:
        log.critical("%s/%d: HALTED until an operator decides: %s", self.spec.name, partition, reason)
        self._halted.add(partition)
        self._consumer.hold(partition)
        self._metrics.halted.labels(self.spec.name, partition).set(1)
        try:
            self._store.halt(self._shards[partition].claim, reason)
        except Fenced as error:
            self._fenced(partition, error)
        except StoreDown as error:
            log.warning("%s/%d: the halt is not written: %s", self.spec.name, partition, error)

    def _serve(self) -> None:
        shard = self._shards.get(0)
        if shard is None or 0 in self._waiting or not self._serving.due(self._clock()):
            return
        if shard.changed and not self._settle(shard):
            return
        try:
            self._serving.serve(shard, self._clock())
        except Fenced as error:
            self._fenced(0, error)
        except (StoreDown, BrokerDown) as error:
            log.warning("%s: the served set waits: %s", self.spec.name, error)

    def _advise(self) -> None:
        """Kafka's own committed offset is for lag tools: the offset of record lives in the store."""
        now = self._clock()
        if now - self._advised_at >= ADVISE_SECONDS and self._shards:
            self._advised_at = now
            self._watch_partitions(now)
            self._consumer.advise({p: shard.committed.next_offset for p, shard in self._shards.items()})

    def _watch_partitions(self, now: float) -> None:
        """A topic may grow; every lane must know all its peers, also one that is given none of the new partitions."""
        if now - self._counted_at < COUNT_SECONDS:
            return
        self._counted_at = now
        try:
            self._rejoin |= self._consumer.partition_count() > self._partitions
        except BrokerDown as error:
            log.warning("%s: partitions not counted: %s", self.spec.name, error)
