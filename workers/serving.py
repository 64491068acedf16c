"""What a lane's shards hear of their peers, and what partition 0's owner serves from all of them."""

from collections.abc import Callable

from broker.protocol import Producer
from store.protocol import Store
from store.types import Registered
from streamsieve.learners.making import make_learner
from streamsieve.learners.protocol import SampleLearner
from streamsieve.spec import Spec
from workers.peers import Peers
from workers.served_set import ServedSet
from workers.shard import Shard


def predicts_with_peers(spec: Spec, partitions: int) -> bool:
    """Does a shard's learner hear the others? Only where the model is a sum, and the user doesn't forbid it."""
    return partitions > 1 and spec.peers == "shared" and spec.entry.sums


class Serving:
    """One a lane."""

    def __init__(
        self,
        registered: Registered,
        partitions: int,
        store: Store,
        producer: Producer,
        clock: Callable[[], float],
        hash_key: bytes,
        interval: float,
    ) -> None:
        self._registered = registered
        self._partitions = range(partitions)
        self._store = store
        self._producer = producer
        self._clock = clock
        self._hash_key = hash_key
        self._interval = interval
        self._merges_apart = partitions > 1 and not predicts_with_peers(registered.spec, partitions)
        self._peers: dict[int, Peers] = {}
        self._served: ServedSet | None = None
        self._merged: SampleLearner | None = None  # where a shard's own learner doesn't know the others

    def opened(self, shard: Shard) -> None:
        """A shard of this lane begins; partition 0's owner serves."""
        self._peers[shard.partition] = self._new_peers()
        if shard.partition == 0:
            self._served = ServedSet(
                self._registered.spec, shard.claim, self._store, self._producer, self._clock, self._interval
            )
            self._merged = None
            if self._merges_apart:
                self._merged = make_learner(self._registered.spec, self._hash_key, shared=True)

    def forget(self, partition: int) -> None:
        """A shard left this lane."""
        self._peers.pop(partition, None)
        if partition == 0:
            self._served = self._merged = None

    def _new_peers(self) -> Peers:
        return Peers(self._store, self._registered.spec.name, self._registered.incarnation)

    def samples_heard(self, partition: int) -> int:
        """Samples of the others, as this shard last heard."""
        return self._peers[partition].samples()

    def exchange(self, shard: Shard) -> None:
        """Let a shard hear the others."""
        others = [partition for partition in self._partitions if partition != shard.partition]
        self._peers[shard.partition].exchange(shard.learner, others)

    def due(self, now: float) -> bool:
        """Is it time to serve?"""
        return self._served is not None and self._served.due(now)

    def serve(self, shard: Shard, now: float) -> None:
        """Serve the sum of the committed shards. `shard` is partition 0, with nothing uncommitted in it."""
        if self._served is None:
            return
        peers = self._peers[0]
        if self._merged is None:
            self.exchange(shard)
            learner, applied, samples = shard.learner, shard.committed.applied, shard.committed.samples
        else:
            peers.exchange(self._merged, list(self._partitions))
            learner, applied, samples = self._merged, 0, 0
        self._served.publish(learner.selection(), applied + peers.applied(), samples + peers.samples(), now)
        self._served.announce(now)
