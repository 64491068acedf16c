"""B-ARDA: adaptive regularised dual averaging that keeps the B best features, exactly."""

import math

import numpy as np

from streamsieve.batch import F64, I64, Batch
from streamsieve.kernels.adaptive import moment_at, swell_of
from streamsieve.kernels.band import REBUILDS, STALE, Band, is_current, kept_rows, new_band, rebuild, touch
from streamsieve.kernels.dual_averaging import NEED_REBUILD, learn
from streamsieve.learners.sample_stream.gradient_sums import GradientSums
from streamsieve.learners.sample_stream.row_learner import Work
from streamsieve.learners.sample_stream.rows import enlarged
from streamsieve.selection import Selection
from streamsieve.spec import Spec


class BArda(GradientSums):
    """Sums of gradients (G) and of squared gradients (s2) by feature; weights and scores follow from them and t."""

    def __init__(self, spec: Spec, hash_key: bytes, shared: bool = False) -> None:
        super().__init__(spec, hash_key, shared)
        self._band: Band = new_band(self._rows.capacity)

    def selection(self) -> Selection:
        """The features kept now, from this shard plus its peers as last heard."""
        self._take_in_heard()
        if not is_current(self._band, self._round, self._rule, self._clock):
            self._rebuild()
        kept = kept_rows(self._band, self._rows.size, self._round, self._rule, self._clock)
        weights, scores = self._weigh(kept)
        order = np.lexsort((kept, -scores))
        names = self._rows.names_of(kept[order])
        return Selection(names=names, weights=weights[order], scores=scores[order], intercept=self._intercept)

    @property
    def rebuilds(self) -> int:
        """How often the kept set was chosen anew from all rows; the other rounds cost nothing of the kind."""
        return int(self._band.counts[REBUILDS])

    def _run(self, batch: Batch, work: Work) -> int:
        return learn(batch, self._rows.words, self._rows.shard, self._band, self._head, self._rule, *work)

    def _give(self, need: int, batch: Batch, work: Work) -> Work:
        if need == NEED_REBUILD:
            self._rebuild()
            return work
        return super()._give(need, batch, work)

    def _weigh(self, rows: I64) -> tuple[F64, F64]:
        """z and H z^2, by the same operations as the kernel's."""
        sums, moment = self._rows.sums_of(rows), moment_at(self._clock, self._round)
        swell, roots = swell_of(self._clock, self._round), np.sqrt(sums[:, 1])
        weights = -self._rule.rate * sums[:, 0] / (moment.reach + roots)
        return weights / swell, (moment.delta + roots) * weights * weights / math.pow(swell, 3)

    def _widen_middle(self) -> None:
        room = 2 * len(self._band.rows)
        wider = new_band(0, room)._replace(place=self._band.place, edges=self._band.edges, ahead=self._band.ahead)
        wider.counts[:] = self._band.counts
        self._band = wider

    def _follow_capacity(self) -> None:
        """The band has a place for each row that the table has room for."""
        if len(self._band.place) < self._rows.capacity:
            place = enlarged(self._band.place, self._rows.capacity, len(self._band.place))
            self._band = self._band._replace(place=place)

    def _follow(self, rows: I64, before: int) -> None:
        own, others, t = self._rows.shard.own, self._rows.shard.others, self._round
        if t < before or not is_current(self._band, t, self._rule, self._clock):
            self._doubt()
        touch(self._band, rows, own, others, t, self._rule, self._clock)

    def _doubt(self) -> None:
        self._band.counts[STALE] = 1

    def _rebuild(self) -> None:
        own, others, rows = self._rows.shard.own, self._rows.shard.others, self._rows.size
        while not rebuild(self._band, own, others, rows, self._round, self._rule, self._clock):
            self._widen_middle()
