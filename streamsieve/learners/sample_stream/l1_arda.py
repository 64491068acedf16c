"""l1-ARDA: adaptive regularised dual averaging with an l1 penalty; all that it leaves nonzero predicts."""

import numpy as np

from streamsieve.batch import F64, Batch
from streamsieve.kernels.adaptive import count_of, swell_of
from streamsieve.kernels.band import Band, new_band
from streamsieve.kernels.dual_averaging import learn
from streamsieve.learners.sample_stream.gradient_sums import GradientSums
from streamsieve.learners.sample_stream.row_learner import Work
from streamsieve.selection import Selection
from streamsieve.spec import Spec


class L1Arda(GradientSums):
    """The same sums as B-ARDA's; weights follow from them, t and l1. The budget caps what is served."""

    def __init__(self, spec: Spec, hash_key: bytes, shared: bool = False) -> None:
        super().__init__(spec, hash_key, shared)
        self._no_band: Band = new_band(0, 0)

    def selection(self) -> Selection:
        """The heaviest features now, from this shard plus its peers as last heard."""
        self._take_in_heard()
        return self._heaviest(self._weights(), self._intercept)

    def _run(self, batch: Batch, work: Work) -> int:
        return learn(batch, self._rows.words, self._rows.shard, self._no_band, self._head, self._rule, *work)

    def _weights(self) -> F64:
        """The weight of each row, by the same operations as the kernel's."""
        rule, count, swell = self._rule, count_of(self._clock, self._round), swell_of(self._clock, self._round)
        if count == 0.0:
            return np.zeros(self._rows.size)
        sums = self._rows.sums_of(np.arange(self._rows.size))
        gradients = sums[:, 0] / (swell * swell)
        curvatures = rule.delta + np.sqrt(sums[:, 1]) / swell
        excess = np.maximum(np.abs(gradients) / count - rule.l1, 0.0)
        return -np.sign(gradients) * (rule.rate * count / curvatures * excess)
