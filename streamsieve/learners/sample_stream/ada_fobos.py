"""Ada-Fobos: adaptive forward-backward splitting; a step, then a soft threshold, every round for every feature."""

import numpy as np

from streamsieve.batch import F64, Batch
from streamsieve.errors import CorruptState
from streamsieve.kernels.dual_averaging import SAMPLES, Head
from streamsieve.kernels.forward_backward import INTERCEPT, ROUND, SQUARES, WEIGHT, learn
from streamsieve.learners.sample_stream.row_learner import RowLearner, Work
from streamsieve.selection import Selection
from streamsieve.spec import Spec

WIDTH = 3  # weight, squares, the round up to which its thresholds are applied


class AdaFobos(RowLearner):
    """A weight and a sum of squared gradients by feature. All that is nonzero predicts, the budget caps what is served.

    A shard predicts from itself; what is served of several is the mean of their weights, by samples.
    """

    def __init__(self, spec: Spec, hash_key: bytes, shared: bool = False) -> None:
        super().__init__(spec, WIDTH, hash_key, shared)

    def selection(self) -> Selection:
        """The heaviest features now, of this shard and its peers as last heard."""
        size, head = self._rows.size, self._head
        shards = [(int(head.counts[SAMPLES]), float(head.floats[INTERCEPT]), self._rows.shard.own)]
        shards += [(int(peer.scalars[0]), float(peer.scalars[1]), peer.sums) for peer in self._peers.each()]
        spoken = [
            (rounds, intercept, self._weights(sums[:size], rounds)) for rounds, intercept, sums in shards if rounds > 0
        ]
        if not spoken:
            return self._heaviest(np.zeros(size), 0.0)
        if len(spoken) == 1:
            return self._heaviest(spoken[0][2], spoken[0][1])
        total, pull = np.zeros(size), 0.0
        for rounds, intercept, weights in spoken:
            total += rounds * weights
            pull += rounds * intercept
        samples = sum(rounds for rounds, _, _ in spoken)
        return self._heaviest(total / samples, pull / samples)

    def _run(self, batch: Batch, work: Work) -> int:
        return learn(batch, self._rows.words, self._rows.shard, self._head, self._rule, *work)

    def _weights(self, sums: F64, rounds: int) -> F64:
        """The weights of a shard after so many rounds, missed thresholds applied, by the kernel's operations."""
        curvatures = self._rule.delta + np.sqrt(sums[:, SQUARES])
        missed = (rounds - sums[:, ROUND]) * (self._rule.l1 * self._rule.rate / curvatures)
        return np.sign(sums[:, WEIGHT]) * np.maximum(np.abs(sums[:, WEIGHT]) - missed, 0.0)

    def _check(self, head: Head, sums: F64) -> None:
        super()._check(head, sums)
        rounds = sums[:, ROUND]
        if (rounds < 0).any() or (rounds > head.counts[SAMPLES]).any() or (rounds != np.floor(rounds)).any():
            raise CorruptState("a row was last touched in a round that can't be")
