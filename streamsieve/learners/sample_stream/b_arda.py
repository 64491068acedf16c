"""B-ARDA: adaptive regularised dual averaging that keeps the B best features, exactly."""

from collections.abc import Mapping

import numpy as np

from streamsieve.batch import F64, I32, I64, Batch
from streamsieve.errors import CorruptState
from streamsieve.kernels.adaptive import Rule
from streamsieve.kernels.band import REBUILDS, STALE, Band, is_current, kept_rows, new_band, rebuild, touch
from streamsieve.kernels.dual_averaging import (
    DONE,
    IGNORED,
    NEED_ROOM,
    ROWS,
    SAMPLE,
    SAMPLES,
    Head,
    Log,
    intercept_of,
    learn,
    round_of,
)
from streamsieve.kernels.losses import LOSS_CODES
from streamsieve.learners.protocol import Chunks
from streamsieve.learners.sample_stream.b_arda_head import decode_head, encode_head, new_head, progress_of
from streamsieve.learners.sample_stream.peers import Peers, check_heard
from streamsieve.learners.sample_stream.row_chunks import RowChunks, decode_rows
from streamsieve.learners.sample_stream.rows import Rows, enlarged
from streamsieve.selection import Outcome, Progress, Selection
from streamsieve.spec import Spec

WIDTH = 2  # gradients, squares


class BArda:
    """Sums of gradients (G) and of squared gradients (s2) by feature; weights and scores follow from them and t.

    `margins` holds what the last batch's samples were predicted as, before each was learnt.
    """

    def __init__(self, spec: Spec, hash_key: bytes, shared: bool = False) -> None:
        self._rule = rule_of(spec)
        self._rows = Rows(WIDTH, hash_key, self._rule.max_names, shared)
        self._head: Head = new_head()
        self._band: Band = new_band(self._rows.capacity)
        self._peers = Peers(self._rows)
        self._fresh = True  # nothing heard since the totals were last brought up to date
        self._head_dirty = False
        self.margins: F64 = np.zeros(0)

    def learn(self, batch: Batch) -> Outcome:
        """Predict, then learn, each sample in turn. A record is learnt whole or not at all."""
        batch = writable(batch)
        self._take_in_heard()
        ignored = int(self._head.counts[IGNORED])
        log, found = new_log(batch), np.empty(widest(batch.samples), np.int64)
        refused, cursor = np.full(batch.record_count, -1, np.int64), np.zeros(2, np.int64)
        cursor[SAMPLE] = batch.records[0]
        self.margins = np.full(batch.sample_count, np.nan)
        while True:
            need = learn(
                batch, self._rows.words, self._rows.shard, self._band, self._head, self._rule,
                log, found, self.margins, refused, cursor,
            )  # fmt: skip
            if need == DONE:
                break
            self._make_room(need, batch, int(cursor[SAMPLE]))
        self._head_dirty |= batch.sample_count > 0
        return Outcome(overflows(refused), int(self._head.counts[IGNORED]) - ignored)

    def selection(self) -> Selection:
        """The features kept now, from this shard plus its peers as last heard."""
        self._take_in_heard()
        self._be_current()
        kept = kept_rows(self._band, self._rows.size, round_of(self._head), self._rule)
        weights, scores = self._weigh(kept)
        order = np.lexsort((kept, -scores))
        intercept = intercept_of(self._head, round_of(self._head), self._rule) if self._rule.intercept else 0.0
        return Selection(self._rows.names_of(kept[order]), weights[order], scores[order], intercept=intercept)

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
        head, decoded = parse(chunks, None)
        self._rows.restore(decoded, int(head.counts[ROWS]))
        self._head = head
        self._follow_capacity()

    def hear(self, peer: int, chunks: Mapping[str, bytes], whole: bool) -> None:
        """Take a peer's committed chunks: the changed ones, or all of them if `whole` (what it said before is void)."""
        if not self._rows.shared:
            raise ValueError("a learner that was not made with shared=True hears nobody")
        known = 0 if whole else self._peers.rows_known(peer)
        if chunks:
            head, decoded = parse(chunks, known)
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
    def rebuilds(self) -> int:
        """How often the kept set was chosen anew from all rows; the other rounds cost nothing of the kind."""
        return int(self._band.counts[REBUILDS])

    @property
    def _own_rows(self) -> int:
        return int(self._head.counts[ROWS])

    def _weigh(self, rows: I64) -> tuple[F64, F64]:
        """z and H z^2, by the same operations as the kernel's."""
        sums = self._rows.shard.own[rows]
        if self._rows.shared:
            sums = sums + self._rows.shard.others[rows]
        curvatures = self._rule.delta + np.sqrt(sums[:, 1])
        weights = -self._rule.rate * sums[:, 0] / (self._rule.drag * round_of(self._head) + curvatures)
        return weights, curvatures * weights * weights

    def _make_room(self, need: int, batch: Batch, sample: int) -> None:
        """Give the kernel what it asked for before this sample."""
        if need == NEED_ROOM:
            lengths = batch.name_lengths[batch.samples[sample] : batch.samples[sample + 1]]
            self._rows.reserve(len(lengths), int(lengths.sum()))
            self._follow_capacity()
        else:
            self._rebuild()

    def _widen_middle(self) -> None:
        room = 2 * len(self._band.rows)
        wider = new_band(0, room)._replace(place=self._band.place, edges=self._band.edges)
        wider.counts[:] = self._band.counts
        self._band = wider

    def _follow_capacity(self) -> None:
        """The band has a place for each row that the table has room for."""
        if len(self._band.place) < self._rows.capacity:
            place = enlarged(self._band.place, self._rows.capacity, len(self._band.place))
            self._band = self._band._replace(place=place)

    def _take_in_heard(self) -> None:
        """Bring totals and kept set up to date with what peers said since the last time."""
        if self._fresh:
            return
        before = round_of(self._head)
        self._follow_capacity()
        rows = self._peers.refresh()
        self._head.heard[:] = self._peers.scalars()
        t = round_of(self._head)
        if t < before or not is_current(self._band, t, self._rule):
            self._band.counts[STALE] = 1
        touch(self._band, rows, self._rows.shard.own, self._rows.shard.others, t, self._rule)
        self._fresh = True

    def _be_current(self) -> None:
        if not is_current(self._band, round_of(self._head), self._rule):
            self._rebuild()

    def _rebuild(self) -> None:
        own, others, t = self._rows.shard.own, self._rows.shard.others, round_of(self._head)
        while not rebuild(self._band, own, others, self._rows.size, t, self._rule):
            self._widen_middle()


def rule_of(spec: Spec) -> Rule:
    """The spec's numbers as kernels take them."""
    rate = spec.params["eta"]
    return Rule(
        rate=rate,
        delta=spec.params["delta"],
        drag=spec.params["lambda"] * rate,
        budget=spec.budget,
        loss=LOSS_CODES[spec.loss],
        intercept=spec.intercept,
        max_names=spec.all_limits().max_names,
    )


def parse(chunks: Mapping[str, bytes], known: int | None) -> tuple[Head, RowChunks]:
    """Check and parse chunks; known: the rows that a peer has named before, None for an own shard."""
    if "head" not in chunks:
        raise CorruptState("chunk head is missing")
    head = decode_head(chunks["head"])
    decoded = decode_rows(chunks, int(head.counts[ROWS]), WIDTH)
    if any((sums[:, 1] < 0).any() for sums in decoded.sums.values()):
        raise CorruptState("a sum of squares is negative")
    if known is not None:
        check_heard(decoded, known, int(head.counts[ROWS]))
    return head, decoded


def overflows(refused: I64) -> list[tuple[int, str]]:
    """The refused records, each with a sentence."""
    return [
        (int(record), f"sample {refused[record] + 1} of the record would make a sum infinite")
        for record in np.flatnonzero(refused >= 0)
    ]


def widest(bounds: I64) -> int:
    """The longest stretch between neighbours."""
    return int(np.diff(bounds).max()) if len(bounds) > 1 else 0


def new_log(batch: Batch) -> Log:
    """A log as long as the longest record of many samples needs."""
    many = np.diff(batch.records) > 1
    entries = np.diff(batch.samples[batch.records])[many]
    samples = np.diff(batch.records)[many]
    length, count = int(entries.max(initial=0)), int(samples.max(initial=0))
    rows: I32 = np.empty(length, np.int32)
    sizes, bins = np.zeros(3, np.int64), np.empty(count, np.int64)
    return Log(rows, np.empty((length, WIDTH)), bins, np.zeros(4, np.int64), np.zeros(3), sizes)


def writable(batch: Batch) -> Batch:
    """numba takes a read-only array as another type and would compile once more; a copy is cheaper."""
    fixed = {name: column.copy() for name, column in batch._asdict().items() if not column.flags.writeable}
    return batch._replace(**fixed)
