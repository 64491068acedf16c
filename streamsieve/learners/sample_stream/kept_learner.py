"""What the learners that keep at most B weights have in common: all but their step and the meaning of their numbers."""

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from streamsieve.batch import F64, I64, Batch
from streamsieve.errors import CorruptState
from streamsieve.kernels.dual_averaging import DONE, IGNORED, NEED_ROOM, ROWS, SAMPLE, SAMPLES, Head, Log
from streamsieve.kernels.keeping import SECOND, WEIGHT, Rule, Stage, first_second
from streamsieve.kernels.kept import COUNT, STALE, Kept, new_kept
from streamsieve.kernels.kept_round import learn, refill
from streamsieve.kernels.losses import LOSS_CODES
from streamsieve.learners.protocol import Chunks
from streamsieve.learners.sample_stream.b_arda_head import decode_head, encode_head, new_head, progress_of
from streamsieve.learners.sample_stream.merging import Heard, Merging
from streamsieve.learners.sample_stream.peers import check_heard
from streamsieve.learners.sample_stream.row_chunks import RowChunks, decode_rows
from streamsieve.learners.sample_stream.row_learner import new_log, overflows, widest, writable
from streamsieve.learners.sample_stream.rows import Rows, enlarged
from streamsieve.selection import Outcome, Progress, Selection
from streamsieve.spec import Spec

MYSELF = -1  # as a peer of the merge


class Ranking(NamedTuple):
    """Some rows as they would be served; `keys` decide who is within the budget, larger first."""

    weights: F64
    scores: F64
    keys: F64


class KeptLearner(ABC):
    """One row of numbers a feature, the first its weight: zero for all but the kept.

    A shard predicts from itself. A learner made with shared=True also merges what it hears with what it learnt itself,
    for `selection` alone. `margins` holds what the last batch's samples were predicted as, before each was learnt.
    """

    second_bounds = (0.0, math.inf)  # of column 1

    def __init__(self, rule: Rule, width: int, spec: Spec, hash_key: bytes, shared: bool) -> None:
        self._rule = rule
        self._real = spec.labels == "real"
        self._rows = Rows(width, hash_key, rule.max_names, shared=False)
        self._head: Head = new_head()
        self._head.floats[SECOND] = first_second(rule.method)
        self._kept: Kept = new_kept(self._rows.capacity)
        self._merging = Merging(width, hash_key, rule.max_names) if shared else None
        self._head_dirty = False
        self.margins: F64 = np.zeros(0)

    @abstractmethod
    def rank(self, sums: F64) -> Ranking:
        """What some rows of one shard are served as."""

    @abstractmethod
    def rank_merged(self, heard: Heard) -> Ranking:
        """What the rows of all shards together are served as."""

    def learn(self, batch: Batch) -> Outcome:
        """Predict, then learn, each sample in turn. A record is learnt whole or not at all."""
        batch = writable(batch)
        ignored = int(self._head.counts[IGNORED])
        widest_sample = widest(batch.samples)
        log, found = self._new_log(batch), np.empty(widest_sample, np.int64)
        stage = self._new_stage(widest_sample)
        refused, cursor = np.full(batch.record_count, -1, np.int64), np.zeros(2, np.int64)
        cursor[SAMPLE] = batch.records[0]
        self.margins = np.full(batch.sample_count, np.nan)
        while True:
            need = learn(
                batch, self._rows.words, self._rows.shard, self._kept, self._head, self._rule, stage,
                log, found, self.margins, refused, cursor,
            )  # fmt: skip
            if need == DONE:
                break
            if need == NEED_ROOM:
                self._make_room(batch, int(cursor[SAMPLE]))
                stage = self._new_stage(widest_sample)
            else:
                log = self._new_log(batch)
        self._head_dirty |= batch.sample_count > 0
        return Outcome(overflows(refused), int(self._head.counts[IGNORED]) - ignored)

    def selection(self) -> Selection:
        """The features kept now; of a learner that heard others, the merge of all shards."""
        if self._merging is None:
            return self._own_selection()
        if self._head.counts[SAMPLES]:
            self.hear(MYSELF, self.chunks(), whole=True)
        heard = self._merging.heard()
        if heard is None:
            return self._own_selection()
        ranking = self.rank_merged(heard)
        best = best_rows(ranking, heard.order, self._rule.budget)
        intercept = float(self.rank_merged(heard.constant()).weights[0])
        return served(ranking, best, heard.order, self._merging.names_of(best), intercept)

    def progress(self) -> Progress:
        """Progressive metrics of this shard alone; where labels are real numbers, only the loss has a meaning."""
        progress = progress_of(self._head)
        return progress._replace(accuracy=None, auc=None) if self._real else progress

    def chunks(self) -> Chunks:
        """The whole state of this shard."""
        return {"head": encode_head(self._head), **self._rows.chunks(self._own_rows)}

    def changes(self) -> Chunks:
        """The chunks that changed since `settled` was last called (or since the start)."""
        head = {"head": encode_head(self._head)} if self._head_dirty else {}
        return {**head, **self._rows.changes(self._own_rows)}

    def settled(self) -> None:
        """What `changes` gave is safe in the store."""
        self._rows.settled(self._own_rows)
        self._head_dirty = False

    def restore(self, chunks: Mapping[str, bytes]) -> None:
        """Become the shard that gave these chunks (a fresh learner only). Raises CorruptState."""
        if self._rows.size or self._head.counts[SAMPLES]:
            raise CorruptState("only a fresh learner can be restored")
        if not chunks:
            return
        head, decoded = self._parse(chunks)
        self._check_budget(decoded)
        self._rows.restore(decoded, int(head.counts[ROWS]))
        self._head = head
        self._follow_capacity()
        self._kept.counts[STALE] = 1

    def hear(self, peer: int, chunks: Mapping[str, bytes], whole: bool) -> None:
        """Take a peer's committed chunks: the changed ones, or all of them if `whole` (what it said before is void)."""
        if self._merging is None:
            raise ValueError("a learner that was not made with shared=True hears nobody")
        if not chunks:
            if whole:
                self._merging.forget(peer)
            return
        head, decoded = self._parse(chunks)
        check_heard(decoded, 0 if whole else self._merging.rows_known(peer), int(head.counts[ROWS]))
        if whole:
            self._merging.forget(peer)
        scalars = np.array([head.counts[SAMPLES], head.floats[WEIGHT], head.floats[SECOND]], np.float64)
        self._merging.hear(peer, decoded, scalars)

    def dirty_bytes(self) -> int:
        """About how many bytes `changes` would give, so that a commit's size can be bounded."""
        return self._head_dirty * len(encode_head(self._head)) + self._rows.dirty_bytes(self._own_rows)

    @property
    def _own_rows(self) -> int:
        return int(self._head.counts[ROWS])

    def _own_selection(self) -> Selection:
        if self._kept.counts[STALE]:
            refill(self._kept, self._rows.shard.own, self._rows.size, self._rule)
        rows = np.sort(self._kept.rows[: self._kept.counts[COUNT]])
        ranking = self.rank(self._rows.shard.own[rows])
        best = best_rows(ranking, rows, self._rule.budget)
        return served(ranking, best, rows, self._rows.names_of(rows[best]), float(self._head.floats[WEIGHT]))

    def _new_stage(self, entries: int) -> Stage:
        held = self._rows.capacity if self._rule.shrinkage > 0 else 0
        return Stage(np.zeros((entries, 2)), np.zeros((held, 2)), np.zeros((1, 2)))

    def _new_log(self, batch: Batch) -> Log:
        """With room for more than is kept now, so that the kernel seldom has to ask again."""
        return new_log(batch, self._rows.width, 2 * int(self._kept.counts[COUNT]))

    def _make_room(self, batch: Batch, sample: int) -> None:
        lengths = batch.name_lengths[batch.samples[sample] : batch.samples[sample + 1]]
        self._rows.reserve(len(lengths), int(lengths.sum()))
        self._follow_capacity()

    def _follow_capacity(self) -> None:
        kept, capacity, count = self._kept, self._rows.capacity, int(self._kept.counts[COUNT])
        if len(kept.rows) < capacity:
            place = enlarged(kept.place, capacity, len(kept.place))
            self._kept = Kept(
                enlarged(kept.rows, capacity, count), enlarged(kept.scores, capacity, count), place, kept.counts
            )

    def _parse(self, chunks: Mapping[str, bytes]) -> tuple[Head, RowChunks]:
        if "head" not in chunks:
            raise CorruptState("chunk head is missing")
        head = decode_head(chunks["head"])
        decoded = decode_rows(chunks, int(head.counts[ROWS]), self._rows.width)
        seconds = [head.floats[SECOND:], *(sums[:, 1:] for sums in decoded.sums.values())]
        least, most = self.second_bounds
        if any((second < least).any() or (second > most).any() for second in seconds):
            raise CorruptState(f"a feature's second number is not from {least:g} to {most:g}")
        return head, decoded

    def _check_budget(self, decoded: RowChunks) -> None:
        weighing = sum(int(np.count_nonzero(sums[:, 0])) for sums in decoded.sums.values())
        if self._rule.batch == 1 and weighing > self._rule.budget:
            raise CorruptState(f"{weighing} features weigh something; the budget is {self._rule.budget}")


def basic_rule(method: int, spec: Spec) -> Rule:
    """A rule with what every spec says; the algorithm's own numbers are to be put in."""
    return Rule(method, LOSS_CODES[spec.loss], spec.budget, spec.intercept, spec.all_limits().max_names)


def rank_by_size(weights: F64) -> Ranking:
    """Score and order by |w|."""
    sizes = np.abs(weights)
    return Ranking(weights, sizes, sizes)


def best_rows(ranking: Ranking, order: I64, budget: int) -> I64:
    """The places of those within the budget that weigh something: larger key first, then first seen."""
    best = np.lexsort((order, -ranking.keys))[:budget]
    chosen: I64 = best[ranking.weights[best] != 0.0]
    return chosen


def served(ranking: Ranking, best: I64, order: I64, names: list[str], intercept: float) -> Selection:
    """The chosen ones, larger score first, then first seen."""
    weights, scores = ranking.weights[best], ranking.scores[best]
    sorted_ = np.lexsort((order[best], -scores))
    return Selection(
        names=[names[place] for place in sorted_],
        weights=weights[sorted_],
        scores=scores[sorted_],
        intercept=intercept,
    )
