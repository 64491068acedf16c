"""What learners of named rows have in common: feeding a kernel batch by batch, and speaking in chunks."""

import math
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from streamsieve.batch import F64, I32, I64, Batch
from streamsieve.errors import CorruptState
from streamsieve.kernels.adaptive import Rule
from streamsieve.kernels.band import FOREVER
from streamsieve.kernels.dual_averaging import DONE, IGNORED, NEED_ROOM, ROWS, SAMPLE, SAMPLES, Head, Log
from streamsieve.kernels.losses import LOSS_CODES
from streamsieve.learners.protocol import Chunks
from streamsieve.learners.sample_stream.b_arda_head import decode_head, encode_head, new_head, progress_of
from streamsieve.learners.sample_stream.peers import Peers, check_heard
from streamsieve.learners.sample_stream.row_chunks import RowChunks, decode_rows
from streamsieve.learners.sample_stream.rows import Rows
from streamsieve.selection import Outcome, Progress, Selection
from streamsieve.spec import Spec

SCALE_BITS = 64  # half-lives after which the scale of the sums begins anew


class Work(NamedTuple):
    """What a kernel needs besides the state while it goes through a batch."""

    log: Log
    found: I64
    margins: F64
    refused: I64
    cursor: I64


class RowLearner:
    """A shard of named rows, its head and its peers. Subclasses say what a round is and what is selected.

    `margins` holds what the last batch's samples were predicted as, before each was learnt.
    """

    def __init__(self, spec: Spec, width: int, hash_key: bytes, shared: bool) -> None:
        self._rule = rule_of(spec)
        self._rows = Rows(width, hash_key, self._rule.max_names, shared)
        self._head: Head = new_head()
        self._peers = Peers(self._rows)
        self._fresh = True  # nothing heard since the totals were last brought up to date
        self._head_dirty = False
        self.margins: F64 = np.zeros(0)

    def learn(self, batch: Batch) -> Outcome:
        """Predict, then learn, each sample in turn. A record is learnt whole or not at all."""
        batch = writable(batch)
        self._take_in_heard()
        ignored = int(self._head.counts[IGNORED])
        work = new_work(batch, self._rows.width)
        while True:
            need = self._run(batch, work)
            if need == DONE:
                break
            work = self._give(need, batch, work)
        self.margins = work.margins
        self._head_dirty |= batch.sample_count > 0
        return Outcome(overflows(work.refused), int(self._head.counts[IGNORED]) - ignored)

    def progress(self) -> Progress:
        """Progressive metrics of this shard alone."""
        return progress_of(self._head)

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
        head, decoded = self._parse(chunks, None)
        self._rows.restore(decoded, int(head.counts[ROWS]))
        self._head = head
        self._follow_capacity()

    def hear(self, peer: int, chunks: Mapping[str, bytes], whole: bool) -> None:
        """Take a peer's committed chunks: the changed ones, or all of them if `whole` (what it said before is void)."""
        if not self._rows.shared:
            raise ValueError("a learner that was not made with shared=True hears nobody")
        known = 0 if whole else self._peers.rows_known(peer)
        if chunks:
            head, decoded = self._parse(chunks, known)
        if whole:
            self._peers.forget(peer)
        if chunks:
            scalars = np.array([head.counts[SAMPLES], head.floats[1], head.floats[2]], np.float64)
            self._peers.hear(peer, decoded, scalars)
        self._fresh = False

    def dirty_bytes(self) -> int:
        """About how many bytes `changes` would give, so that a commit's size can be bounded."""
        return self._head_dirty * len(encode_head(self._head)) + self._rows.dirty_bytes(self._own_rows)

    @property
    def _own_rows(self) -> int:
        return int(self._head.counts[ROWS])

    def _run(self, batch: Batch, work: Work) -> int:
        """Call the kernel; DONE, or what it needs."""
        raise NotImplementedError

    def _give(self, need: int, batch: Batch, work: Work) -> Work:
        """Give the kernel what it asked for before the sample at the cursor."""
        if need != NEED_ROOM:
            raise NotImplementedError
        sample = int(work.cursor[SAMPLE])
        lengths = batch.name_lengths[batch.samples[sample] : batch.samples[sample + 1]]
        self._rows.reserve(len(lengths), int(lengths.sum()))
        self._follow_capacity()
        return work

    def _follow_capacity(self) -> None:
        """The table of rows may have grown."""

    def _take_in_heard(self) -> None:
        """Bring what a round looks at up to date with what peers said."""

    def _check(self, head: Head, sums: F64) -> None:
        """Raise CorruptState for rows that can't be. The second column is always a sum of squares."""
        if (sums[:, 1] < 0).any():
            raise CorruptState("a sum of squares is negative")

    def _parse(self, chunks: Mapping[str, bytes], known: int | None) -> tuple[Head, RowChunks]:
        """Check and parse chunks; known: the rows that a peer has named before, None for an own shard."""
        if "head" not in chunks:
            raise CorruptState("chunk head is missing")
        head = decode_head(chunks["head"])
        decoded = decode_rows(chunks, int(head.counts[ROWS]), self._rows.width)
        for sums in decoded.sums.values():
            self._check(head, sums)
        if known is not None:
            check_heard(decoded, known, int(head.counts[ROWS]))
        return head, decoded

    def _heaviest(self, weights: F64, intercept: float) -> Selection:
        """The `budget` rows of the largest |w|, ties by lower row, of the weights of all rows."""
        rows = np.flatnonzero(weights)
        scores = np.abs(weights[rows])
        best = np.lexsort((rows, -scores))[: self._rule.budget]
        chosen = rows[best]
        return Selection(
            names=self._rows.names_of(chosen),
            weights=weights[chosen],
            scores=scores[best],
            nonzero=len(rows),
            intercept=intercept,
        )


def rule_of(spec: Spec) -> Rule:
    """The spec's numbers as kernels take them."""
    rate = spec.params["eta"]
    return Rule(
        rate=rate,
        delta=spec.params["delta"],
        drag=spec.params.get("lambda", 0.0) * rate,
        l1=spec.params.get("l1", 0.0),
        truncates="l1" not in spec.params,
        budget=spec.budget,
        loss=LOSS_CODES[spec.loss],
        intercept=spec.intercept,
        max_names=spec.all_limits().max_names,
        fade=math.log(2.0) / spec.half_life if spec.half_life else 0.0,
        period=min(round(SCALE_BITS * spec.half_life), FOREVER) if spec.half_life else 0,
    )


def new_work(batch: Batch, width: int) -> Work:
    """Room for what a batch needs, the cursor at its first sample."""
    found, refused = np.empty(widest(batch.samples), np.int64), np.full(batch.record_count, -1, np.int64)
    cursor = np.array([0, batch.records[0]], np.int64)
    return Work(new_log(batch, width), found, np.full(batch.sample_count, np.nan), refused, cursor)


def overflows(refused: I64) -> list[tuple[int, str]]:
    """The refused records, each with a sentence."""
    return [
        (int(record), f"sample {refused[record] + 1} of the record would make a sum infinite")
        for record in np.flatnonzero(refused >= 0)
    ]


def widest(bounds: I64) -> int:
    """The longest stretch between neighbours."""
    return int(np.diff(bounds).max()) if len(bounds) > 1 else 0


def new_log(batch: Batch, width: int, kept: int = 0) -> Log:
    """A log as long as the longest record of many samples needs, with so many rows kept before it."""
    many = np.diff(batch.records) > 1
    entries = np.diff(batch.samples[batch.records])[many]
    samples = np.diff(batch.records)[many]
    length, count = kept + int(entries.max(initial=0)), int(samples.max(initial=0))
    rows: I32 = np.empty(length, np.int32)
    sizes, bins = np.zeros(4, np.int64), np.empty(count, np.int64)
    sums, unscaled = np.empty((length, width)), np.empty((0, width))
    return Log(rows, sums, bins, np.zeros(4, np.int64), np.zeros(3), sizes, unscaled)


def writable(batch: Batch) -> Batch:
    """numba takes a read-only array as another type and would compile once more; a copy is cheaper."""
    fixed = {name: column.copy() for name, column in batch._asdict().items() if not column.flags.writeable}
    return batch._replace(**fixed)
