"""What the other shards of a selector have committed, read only as far as it changed."""

from store.protocol import ShardStore
from store.types import Accounts, Seen, ShardKey
from streamsieve.learners.protocol import SampleLearner


class Peers:
    """Follows some shards and tells their changes to one learner."""

    def __init__(self, store: ShardStore, selector: str, incarnation: str) -> None:
        self._store = store
        self._selector = selector
        self._incarnation = incarnation
        self._seen: dict[int, Seen] = {}
        self._accounts: dict[int, Accounts] = {}

    def exchange(self, learner: SampleLearner, partitions: list[int]) -> None:
        """Tell the learner what these partitions committed since the last time."""
        for partition in partitions:
            self._hear(learner, partition)

    def _hear(self, learner: SampleLearner, partition: int) -> None:
        shard = ShardKey(self._selector, self._incarnation, partition)
        heard = self._store.hear(shard, self._seen.get(partition))
        if heard is None:
            return
        if heard.chunks or heard.whole:
            learner.hear(partition, heard.chunks, heard.whole)
        self._seen[partition] = heard.seen
        if heard.accounts is not None:
            self._accounts[partition] = heard.accounts

    def samples(self) -> int:
        """Samples that the peers have told of."""
        return sum(accounts.samples for accounts in self._accounts.values())

    def applied(self) -> int:
        """Records that the peers have told of."""
        return sum(accounts.applied for accounts in self._accounts.values())
