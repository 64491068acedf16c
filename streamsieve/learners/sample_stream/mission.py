"""MISSION: stochastic gradient steps added up in a count-sketch, the heaviest features kept beside it by name."""

from collections.abc import Mapping

import numpy as np

from streamsieve.batch import F64, I64, U64, Batch, class_names
from streamsieve.errors import CorruptState
from streamsieve.kernels.hashing import key_words
from streamsieve.kernels.mission import (
    CLASSES,
    CORRECT,
    DONE,
    LOGISTIC_STEP,
    ONE_CLASS_TOO_MANY,
    SAMPLE,
    SAMPLES,
    SOFTMAX_STEP,
    SQUARED_STEP,
    Head,
    Log,
    Rule,
    Scratch,
    learn,
)
from streamsieve.kernels.progress import BINS, area_under_curve
from streamsieve.kernels.sketch import DIRTY, PIECE, STORED, UNTOUCHED, Sketch
from streamsieve.learners.protocol import Chunks
from streamsieve.learners.sample_stream.members import ActiveSet
from streamsieve.learners.sample_stream.mission_chunks import Shape, Summary, encode_head, key_id, parse
from streamsieve.learners.sample_stream.mission_peers import MissionPeers, regathered
from streamsieve.learners.sample_stream.mission_room import longer_log, new_log, new_scratch
from streamsieve.learners.sample_stream.row_learner import writable
from streamsieve.learners.sample_stream.rows import enlarged
from streamsieve.selection import Outcome, Progress, Selection
from streamsieve.spec import Spec

STEPS = {"logistic": LOGISTIC_STEP, "squared": SQUARED_STEP, "softmax": SOFTMAX_STEP}
SHARED_DECAY = 0.5  # a constant step diverges where peers are heard late


class Mission:
    """A sketch of all weights, and the active set: the budget's heaviest, as last queried.

    `margins` holds what the last batch's samples were predicted as, before each was learnt (softmax: of their class).
    """

    def __init__(self, spec: Spec, hash_key: bytes, shared: bool = False) -> None:
        self._rule = rule_of(spec, shared)
        self._shared = shared
        self._key: U64 = key_words(hash_key)
        self._shape = Shape(self._rule.depth, self._rule.width, key_id(hash_key))
        self._sketch = Sketch(
            np.zeros((1, self._shape.cells), np.float32),
            np.zeros((int(shared), self._shape.cells)),
            np.zeros(self._shape.pieces, np.uint8),
        )
        self._active = ActiveSet(spec.budget, 1)
        self._head = Head(np.zeros(3, np.int64), np.zeros(1), np.zeros((2, BINS), np.int64), np.zeros(1), np.zeros(2))
        self._head.counts[CLASSES] = self._rule.loss != SOFTMAX_STEP
        self._classes: list[str] = []
        self._peers = MissionPeers(self._shape)
        self._fresh = True  # nothing heard since it was last taken in
        self._head_dirty = False
        self.margins: F64 = np.zeros(0)

    def learn(self, batch: Batch) -> Outcome:
        """Predict, then learn, each sample in turn. A record is learnt whole or not at all."""
        if self._rule.loss == SOFTMAX_STEP and batch.labels.max(initial=-1.0) >= len(batch.class_ends):
            raise ValueError("a batch for softmax names the classes of its labels")  # a kernel would read past them
        self._take_in_heard()
        self._active.tidy()
        batch, names, class_of = self._translated(writable(batch))
        room, depth = len(self._sketch.cells), self._rule.depth
        log, scratch = new_log(batch, room, depth, self._shape.pieces), new_scratch(batch, room, depth)
        refused, reasons = (np.full(batch.record_count, -1, np.int64) for _ in range(2))
        cursor = np.array([0, batch.records[0]], np.int64)
        self.margins = np.full(batch.sample_count, np.nan)
        while True:
            need = learn(
                batch, self._sketch, self._active.members, self._head, self._rule,
                log, scratch, class_of, self.margins, refused, reasons, cursor,
            )  # fmt: skip
            if need == DONE:
                break
            log, scratch = self._make_room(batch, int(cursor[SAMPLE]), log)
        self._meet(names, class_of)
        self._head_dirty |= batch.sample_count > 0
        return Outcome(self._refusals(refused, reasons), 0)

    def selection(self) -> Selection:
        """The features kept now, from this shard plus its peers as last heard."""
        self._take_in_heard()
        best = self._active.best_first()
        weights = self._active.members.weights[best, : self._class_count]
        heaviest = weights[np.arange(len(best)), np.abs(weights).argmax(axis=1)] if len(best) else np.zeros(0)
        classes, intercept = None, float(self._head.intercepts[0] + self._head.heard[1])
        if self._rule.loss == SOFTMAX_STEP:
            intercept = 0.0  # there is one a class
            classes = [dict(zip(self._classes, line, strict=True)) for line in weights.tolist()]
        names = [self._active.name(int(member)) for member in best]
        scores = self._active.members.scores[best]
        return Selection(names=names, weights=heaviest, scores=scores, classes=classes, intercept=intercept)

    def progress(self) -> Progress:
        """Progressive metrics of this shard alone."""
        samples = int(self._head.counts[SAMPLES])
        if samples == 0:
            return Progress(0, None, None, None)
        accuracy = None if self._rule.loss == SQUARED_STEP else int(self._head.counts[CORRECT]) / samples
        return Progress(
            samples, accuracy, float(self._head.losses[0]) / samples, area_under_curve(self._head.histogram)
        )

    def chunks(self) -> Chunks:
        """The whole state of this shard."""
        return {"head": self._encode_head(), **self._cells(STORED), **self._active.chunks(self._class_count)}

    def changes(self) -> Chunks:
        """The chunks that changed since `settled` was last called (or since the start)."""
        head = {"head": self._encode_head()} if self._head_dirty else {}
        return {**head, **self._cells(DIRTY), **self._active.chunks(self._class_count, changed_only=True)}

    def settled(self) -> None:
        """What `changes` gave is safe in the store."""
        self._sketch.pieces[self._sketch.pieces == DIRTY] = STORED
        self._active.settled()
        self._head_dirty = False

    def restore(self, chunks: Mapping[str, bytes]) -> None:
        """Become the shard that gave these chunks (a fresh learner only). Raises CorruptState."""
        if self._head.counts[SAMPLES] or self._active.size:
            raise CorruptState("only a fresh learner can be restored")
        if not chunks:
            return
        parsed = parse(chunks, self._shape)
        head = parsed.head
        if bool(head.classes) != (self._rule.loss == SOFTMAX_STEP) and head.samples:
            raise CorruptState("the state's loss is another")
        self._have_classes(max(len(head.intercepts), 1))
        self._active.restore(parsed, self._key)
        for number, cells in parsed.cells.items():
            line, first = number // self._shape.pieces, number % self._shape.pieces * PIECE
            self._sketch.cells[line, first : first + len(cells)] = cells
            self._sketch.pieces[number] = STORED
        self._classes = head.classes
        self._head.counts[:] = head.samples, head.correct, len(head.intercepts)
        self._head.losses[0] = head.losses
        self._head.histogram[:] = head.histogram
        self._head.intercepts[: len(head.intercepts)] = head.intercepts

    def hear(self, peer: int, chunks: Mapping[str, bytes], whole: bool) -> None:
        """Take a peer's committed chunks: the changed ones, or all of them if `whole` (what it said before is void)."""
        if not self._shared:
            raise ValueError("a learner that was not made with shared=True hears nobody")
        parsed = parse(chunks, self._shape) if chunks else None
        if whole:
            self._peers.forget(peer)
        if parsed is not None:
            self._peers.hear(peer, parsed)
        self._fresh = False

    def dirty_bytes(self) -> int:
        """About how many bytes `changes` would give, so that a commit's size can be bounded."""
        pieces = 4 * PIECE * int(np.count_nonzero(self._sketch.pieces == DIRTY))
        head = len(self._encode_head()) if self._head_dirty else 0
        return head + pieces + self._active.dirty_bytes(self._class_count)

    @property
    def _class_count(self) -> int:
        return int(self._head.counts[CLASSES])

    def _encode_head(self) -> bytes:
        head = self._head
        return encode_head(
            self._shape,
            Summary(
                int(head.counts[SAMPLES]), int(head.counts[CORRECT]), self._active.size, self._active.entered,
                float(head.losses[0]), head.histogram, head.intercepts[: self._class_count], self._classes,
            ),
        )  # fmt: skip

    def _cells(self, least: int) -> Chunks:
        """The pieces of the sketch that are at least so far from UNTOUCHED."""
        chunks: Chunks = {}
        for number in np.flatnonzero(self._sketch.pieces >= max(least, UNTOUCHED + 1)):
            line, first = int(number) // self._shape.pieces, int(number) % self._shape.pieces * PIECE
            chunks[f"s:{number}"] = self._sketch.cells[line, first : first + PIECE].astype("<f4").tobytes()
        return chunks

    # Classes: labels of a batch are numbers of its own; the kernel numbers classes as accepted samples bring them.

    def _translated(self, batch: Batch) -> tuple[Batch, list[str], I64]:
        """The batch with equal classes under one number, their names, and which class each is here (-1: new)."""
        names = class_names(batch)
        if self._rule.loss != SOFTMAX_STEP:
            return batch, names, np.zeros(1, np.int64)
        first = {name: number for number, name in reversed(list(enumerate(names)))}
        if len(first) < len(names):
            same = np.array([first[name] for name in names], np.float64)
            batch = batch._replace(labels=same[batch.labels.astype(np.int64)])
        known = {name: number for number, name in enumerate(self._classes)}
        return batch, names, np.array([known.get(name, -1) for name in names], np.int64)

    def _meet(self, names: list[str], class_of: I64) -> None:
        """Learn the names of the classes that the batch brought."""
        if self._rule.loss == SOFTMAX_STEP and len(self._classes) < self._class_count:
            met = {int(number): name for name, number in zip(names, class_of, strict=True)}
            self._classes = self._classes + [met[number] for number in range(len(self._classes), self._class_count)]
            self._active.all_refreshed()

    def _have_classes(self, count: int) -> None:
        """Have room for so many classes."""
        have = len(self._sketch.cells)
        if count <= have:
            return
        room = min(max(count, 2 * have), max(self._rule.max_classes, count))
        self._sketch = Sketch(
            enlarged(self._sketch.cells, room, have),
            enlarged(self._sketch.others, room, have) if self._shared else self._sketch.others,
            enlarged(self._sketch.pieces, room * self._shape.pieces, len(self._sketch.pieces)),
        )
        self._active.widen(room)
        self._head = self._head._replace(
            intercepts=enlarged(self._head.intercepts, room, have), heard=enlarged(self._head.heard, 1 + room, 1 + have)
        )

    # Room for the kernel.

    def _make_room(self, batch: Batch, sample: int, log: Log) -> tuple[Log, Scratch]:
        """Give the kernel whatever the sample may need: a class more, room for its names, a longer log."""
        view = slice(batch.samples[sample], batch.samples[sample + 1])
        entries = view.stop - view.start
        self._have_classes(self._class_count + (self._rule.loss == SOFTMAX_STEP))
        self._active.make_room(int(batch.name_lengths[view].sum()))
        room = len(self._sketch.cells)
        log = longer_log(log, entries, room, self._rule.depth, self._shape.pieces)
        return log, new_scratch(batch, room, self._rule.depth)

    def _refusals(self, refused: I64, reasons: I64) -> list[tuple[int, str]]:
        """The refused records, each with a sentence."""
        too_many = f"brings a new class beyond max_classes = {self._rule.max_classes}"
        return [
            (
                int(record),
                f"sample {refused[record] + 1} of the record "
                + (too_many if reasons[record] == ONE_CLASS_TOO_MANY else "would make a sum infinite"),
            )
            for record in np.flatnonzero(refused >= 0)
        ]

    def _take_in_heard(self) -> None:
        """Add up the peers' sketches, and choose the active set anew from the union of all of them."""
        if self._fresh:
            return
        self._fresh = True
        if self._rule.loss == SOFTMAX_STEP:
            self._hear_of_classes()
        lines = {name: line for line, name in enumerate(self._classes)} if self._classes else None
        self._peers.add_up(self._sketch.others, self._head.heard, lines)
        regathered(self._active, self._peers.candidates(), self._sketch, self._class_count, self._rule, self._key)
        self._head_dirty = True

    def _hear_of_classes(self) -> None:
        new = [name for name in self._peers.classes() if name not in self._classes]
        new = new[: self._rule.max_classes - len(self._classes)]
        if new:
            self._classes = self._classes + new
            self._have_classes(len(self._classes))
            self._head.counts[CLASSES] = len(self._classes)
            self._active.all_refreshed()


def rule_of(spec: Spec, shared: bool) -> Rule:
    """The spec's numbers as kernels take them."""
    return Rule(
        rate=spec.params["eta"],
        decay=spec.params.get("decay", SHARED_DECAY if shared else 0.0),
        loss=STEPS[spec.loss],
        depth=int(spec.params["depth"]),
        width=int(spec.params["width"]),
        intercept=spec.intercept,
        max_classes=int(spec.params["max_classes"]),
    )
