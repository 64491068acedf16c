"""What B-ARDA and l1-ARDA share: sums of gradients and of squared gradients by feature, which may be forgotten."""

import math

import numpy as np

from streamsieve.batch import I64, Batch
from streamsieve.kernels.adaptive import Clock, count_of, moment_at, swell_of
from streamsieve.kernels.dual_averaging import (
    GRADIENT,
    N_ENTRIES,
    N_UNSCALED,
    NEED_RESCALE,
    NEED_TOTALS,
    RECORD,
    SAMPLE,
    SQUARE,
    clock_of,
    intercept_of,
    new_clock,
    round_of,
)
from streamsieve.learners.sample_stream.row_learner import RowLearner, Work
from streamsieve.spec import Spec

WIDTH = 2  # gradients, squares


class GradientSums(RowLearner):
    """G and s2 by feature, of this shard and all it has heard; with forgetting in a growing scale (see `adaptive`)."""

    def __init__(self, spec: Spec, hash_key: bytes, shared: bool = False) -> None:
        super().__init__(spec, WIDTH, hash_key, shared)

    @property
    def _round(self) -> int:
        return round_of(self._head, self._rule)

    @property
    def _clock(self) -> Clock:
        return clock_of(self._head, self._rule)

    @property
    def _intercept(self) -> float:
        if not self._rule.intercept:
            return 0.0
        t, clock = self._round, self._clock
        return intercept_of(self._head, moment_at(clock, t), swell_of(clock, t), self._rule)

    def _give(self, need: int, batch: Batch, work: Work) -> Work:
        if need == NEED_RESCALE:
            work = self._spare(batch, work)
            self._rescale()
            return work
        if need == NEED_TOTALS:
            self._fresh = False
            self._take_in_heard()
            return work
        return super()._give(need, batch, work)

    def _spare(self, batch: Batch, work: Work) -> Work:
        """Within a record of many samples, keep the sums as they are: a later sample may have it all undone."""
        first, last = batch.records[work.cursor[RECORD]], batch.records[work.cursor[RECORD] + 1]
        if last - first < 2 or work.cursor[SAMPLE] == last or work.log.sizes[N_UNSCALED] >= 0:
            return work
        work.log.sizes[N_UNSCALED] = work.log.sizes[N_ENTRIES]
        unscaled = self._rows.shard.own[: self._rows.size].copy()
        return work._replace(log=work.log._replace(unscaled=unscaled))

    def _rescale(self) -> None:
        """Scale all sums down by what they have grown in a period."""
        factor = math.exp(-self._rule.fade * self._rule.period)
        self._rows.scale(factor, self._own_rows)
        self._head.floats[[GRADIENT, SQUARE]] *= factor
        self._head.heard[1:] *= factor
        self._doubt()

    def _take_in_heard(self) -> None:
        """Bring totals up to date with what peers said since the last time."""
        if self._fresh:
            return
        before = self._round
        self._follow_capacity()
        if self._rule.fade > 0.0:
            self._add_up_aged()
        else:
            rows = self._peers.refresh()
            self._head.heard[:] = self._peers.scalars()
            self._follow(rows, before)
        self._fresh = True

    def _add_up_aged(self) -> None:
        """The peers' sums, each as old as its shard's own rounds make it, in the scale of ours."""
        total, heard = np.zeros((self._rows.size, WIDTH)), np.zeros(3)
        ours = swell_of(self._clock, self._round) ** 2
        for peer in self._peers.each():
            scalars, rounds = peer.scalars, int(peer.scalars[0])
            clock = new_clock(rounds, 0.0, self._rule)
            factor = ours / swell_of(clock, rounds) ** 2
            total += peer.sums[: self._rows.size] * factor
            heard += [count_of(clock, rounds), scalars[1] * factor, scalars[2] * factor]
        if self._rows.shared:
            self._rows.shard.others[: self._rows.size] = total
        self._head.heard[:] = heard
        self._doubt()

    def _follow(self, rows: I64, before: int) -> None:
        """The totals of some rows have changed, and so has the round."""

    def _doubt(self) -> None:
        """All totals have changed."""
