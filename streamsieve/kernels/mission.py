"""MISSION's round, sample after sample over a batch (Aghazadeh et al., algorithm 1).

Margin from the stored weights of the active set; the step g goes to the cells of all entries; then all are queried:
a member's stored weight is refreshed, an outsider enters a set that is not full, or drives out the worst member if it
is clearly heavier. rate = eta (the paper's lambda), decay: the step is eta / t^decay. One class for binary and real
labels, a sketch a class for softmax.
"""

import math
from typing import NamedTuple

import numpy as np

from streamsieve.batch import F64, I64, Batch
from streamsieve.kernels.active_set import (
    SIZE,
    TEXT,
    Members,
    Moves,
    build_heap,
    is_full,
    note,
    occupy,
    score_of,
    settle,
    undo_moves,
    unseat,
    weigh,
)
from streamsieve.kernels.compiler import lean_kernel
from streamsieve.kernels.losses import LOGISTIC, loss_of, slope_of
from streamsieve.kernels.progress import BINS, bin_of
from streamsieve.kernels.sketch import Sketch, Writes, estimate, increase, spot_of, take_back
from streamsieve.kernels.vocabulary import LONGEST_NAME, find

LOGISTIC_STEP, SQUARED_STEP, SOFTMAX_STEP = range(3)
DONE, LEARNT, OVERFLOWED, ONE_CLASS_TOO_MANY, NEED_ROOM = range(5)
SAMPLES, CORRECT, CLASSES = range(3)  # of Head.counts
RECORD, SAMPLE = range(2)  # of a cursor
MARGIN_OF_ENTRY = 1.05  # an outsider must be heavier by this factor, so that sketch noise does not churn the set


class Rule(NamedTuple):
    """What the user chose: rate = eta, decay of the step, max_classes; loss is a code of this file."""

    rate: float
    decay: float
    loss: int
    depth: int
    width: int
    intercept: bool
    max_classes: int


class Head(NamedTuple):
    """What is neither cell nor member: counters, sum of losses, metrics, the intercepts; `heard` is samples, then the
    peers' intercepts."""

    counts: I64
    losses: F64
    histogram: I64
    intercepts: F64  # by class
    heard: F64


class Log(NamedTuple):
    """What a record has overwritten so far, for undoing it."""

    writes: Writes
    moves: Moves
    bins: I64
    counts: I64
    losses: F64
    intercepts: F64
    samples: I64  # one number: how many bins


class Scratch(NamedTuple):
    """Room for one sample: members and spots of its entries, margins and steps by class, the votes of a query."""

    found: I64
    spots: I64
    margins: F64
    steps: F64
    answers: F64
    votes: F64


@lean_kernel
def begin_record(members: Members, head: Head, log: Log) -> None:
    """Remember where the record began."""
    log.writes.sizes[0], log.writes.sizes[1], log.moves.sizes[0], log.samples[0] = 0, 0, 0, 0
    for at in range(len(members.counts)):
        log.moves.sizes[1 + at] = members.counts[at]
    for at in range(len(head.counts)):
        log.counts[at] = head.counts[at]
    for line in range(len(head.intercepts)):
        log.intercepts[line] = head.intercepts[line]
    log.losses[0] = head.losses[0]


@lean_kernel
def undo_record(sketch: Sketch, members: Members, head: Head, log: Log, class_of: I64) -> None:
    """Be as if the record had never come."""
    take_back(sketch, log.writes, 0)
    undo_moves(members, log.moves)
    for sample in range(log.samples[0]):
        head.histogram[log.bins[sample] // BINS, log.bins[sample] % BINS] -= 1
    for at in range(len(head.counts)):
        head.counts[at] = log.counts[at]
    for line in range(len(head.intercepts)):
        head.intercepts[line] = log.intercepts[line]
    head.losses[0] = log.losses[0]
    for label in range(len(class_of)):
        if class_of[label] >= head.counts[CLASSES]:
            class_of[label] = -1


@lean_kernel
def has_room(
    entries: int, text: int, classes: int, sketch: Sketch, members: Members, log: Log, logging: bool, rule: Rule
) -> bool:
    """Is there room for what a sample may write?"""
    written = log.writes.sizes[0] + entries * rule.depth * classes
    moved = log.moves.sizes[0] + entries if logging else 0
    return bool(
        classes <= len(sketch.cells)
        and members.counts[TEXT] + text <= len(members.text)
        and written <= len(log.writes.cells)
        and moved <= len(log.moves.members)
    )  # fmt: skip


@lean_kernel
def look_up(batch: Batch, start: int, stop: int, members: Members, rule: Rule, scratch: Scratch) -> None:
    """Each entry's member, -1 for outsiders, and its spots in the sketch."""
    slots, known, hashes, found, spots = members.slots, members.hashes, batch.hashes, scratch.found, scratch.spots
    for entry in range(start, stop):
        at = entry - start
        found[at] = find(slots, known, hashes[entry])
        for row in range(rule.depth):
            spots[at * rule.depth + row] = spot_of(hashes[entry], row, rule.width)


@lean_kernel
def predict(batch: Batch, start: int, stop: int, members: Members, head: Head, classes: int, scratch: Scratch) -> None:
    """p = w.x over the active set, in the entries' order, for each class; then the intercept."""
    margins, found, weights, values = scratch.margins, scratch.found, members.weights, batch.values
    for line in range(classes):
        margins[line] = 0.0
    for entry in range(start, stop):
        member = found[entry - start]
        if member >= 0:
            for line in range(classes):
                margins[line] += weights[member, line] * values[entry]
    for line in range(classes):
        margins[line] += head.intercepts[line] + head.heard[1 + line]


@lean_kernel
def softmax(margins: F64, target: int, classes: int, steps: F64) -> float:
    """steps = [c is the target] - softmax_c; gives the cross-entropy."""
    highest = margins[0]
    for line in range(1, classes):
        highest = max(highest, margins[line])
    total = 0.0
    for line in range(classes):
        steps[line] = math.exp(margins[line] - highest)
        total += steps[line]
    for line in range(classes):
        steps[line] = (1.0 if line == target else 0.0) - steps[line] / total
    return float(math.log(total) - (margins[target] - highest))


@lean_kernel
def steps_of(label: float, target: int, rule: Rule, classes: int, scratch: Scratch) -> float:
    """The loss of the prediction, and its negative slope by each class's margin in scratch.steps."""
    margin = scratch.margins[0]
    if rule.loss == SOFTMAX_STEP:
        return softmax(scratch.margins, target, classes, scratch.steps)
    if rule.loss == SQUARED_STEP:
        scratch.steps[0] = 2.0 * (label - margin)
        return float((label - margin) * (label - margin))
    scratch.steps[0] = -slope_of(LOGISTIC, label, margin)
    return loss_of(LOGISTIC, label, margin)


@lean_kernel
def is_right(label: float, target: int, known: int, rule: Rule, margins: F64) -> bool:
    """Did the prediction hit? +1 iff p > 0; the class of the largest margin, the first seen of equal ones."""
    if rule.loss == LOGISTIC_STEP:
        return bool((margins[0] > 0.0) == (label > 0.0))
    if rule.loss == SQUARED_STEP or target >= known:
        return False
    for line in range(known):
        if margins[line] > margins[target] or (line < target and margins[line] == margins[target]):
            return False
    return True


@lean_kernel
def is_finite(head: Head, loss: float, scale: float, classes: int, scratch: Scratch) -> bool:
    """Are prediction, loss and steps finite, and would the intercepts stay so?"""
    probe = (head.losses[0] + loss) * 0.0
    for line in range(classes):
        step = scale * scratch.steps[line]
        probe += scratch.margins[line] * 0.0 + (head.intercepts[line] + head.heard[1 + line] + step) * 0.0
    return bool(probe == 0.0)


@lean_kernel
def add_all(
    batch: Batch, start: int, stop: int, classes: int, scale: float, sketch: Sketch, depth: int, scratch: Scratch,
    writes: Writes,
) -> bool:  # fmt: skip
    """Add the step to the cells of all entries; if one would overflow, to none."""
    before, spots, values = writes.sizes[0], scratch.spots, batch.values
    for line in range(classes):
        slope = scale * scratch.steps[line]
        for entry in range(start, stop):
            amount = slope * values[entry]
            for row in range(depth):
                if not increase(sketch, line, spots[(entry - start) * depth + row], amount, writes):
                    take_back(sketch, writes, before)
                    return False
    return True


@lean_kernel
def query_all(
    batch: Batch, start: int, stop: int, classes: int, sketch: Sketch, members: Members, scratch: Scratch,
    moves: Moves, logging: bool,
) -> None:  # fmt: skip
    """Query each entry in turn: refresh members, let outsiders in."""
    found, hashes, lengths, answers, votes = (
        scratch.found, batch.hashes, batch.name_lengths, scratch.answers, scratch.votes,
    )  # fmt: skip
    for entry in range(start, stop):
        for line in range(classes):
            answers[line] = estimate(sketch, line, scratch.spots, (entry - start) * len(votes), votes)
        score = score_of(answers, classes)
        member = found[entry - start]
        if member >= 0 and members.hashes[member] == hashes[entry]:  # else an entry before it drove it out
            if logging:
                note(members, member, moves)
            weigh(members, member, answers, score, classes)
            if is_full(members):
                settle(members, members.place[member])
        elif lengths[entry] <= LONGEST_NAME:
            if not is_full(members):
                if score > 0.0:
                    append(members, batch, entry, answers, score, classes, moves, logging)
            elif score > MARGIN_OF_ENTRY * members.scores[members.heap[0]]:
                replace_worst(members, batch, entry, answers, score, classes, moves, logging)


@lean_kernel
def append(
    members: Members, batch: Batch, entry: int, weights: F64, score: float, classes: int, moves: Moves, logging: bool
) -> None:
    """Let an outsider into a set that is not full."""
    member = members.counts[SIZE]
    if logging:
        note(members, member, moves)
    members.counts[SIZE] = member + 1
    occupy(members, member, batch.hashes[entry], batch.text, batch.name_starts[entry], batch.name_lengths[entry])
    weigh(members, member, weights, score, classes)
    build_heap(members)


@lean_kernel
def replace_worst(
    members: Members, batch: Batch, entry: int, weights: F64, score: float, classes: int, moves: Moves, logging: bool
) -> None:
    """Let an outsider drive out the worst member."""
    member = members.heap[0]
    if logging:
        note(members, member, moves)
    unseat(members.slots, members.hashes, members.hashes[member])
    occupy(members, member, batch.hashes[entry], batch.text, batch.name_starts[entry], batch.name_lengths[entry])
    weigh(members, member, weights, score, classes)
    settle(members, 0)


@lean_kernel
def note_progress(head: Head, label: float, loss: float, right: bool, margin: float, rule: Rule, log: Log) -> None:
    """Progressive metrics; only binary labels have a curve."""
    head.counts[SAMPLES] += 1
    head.counts[CORRECT] += right
    head.losses[0] += loss
    if rule.loss == LOGISTIC_STEP:
        positive, place = 1 if label > 0.0 else 0, bin_of(margin)
        head.histogram[positive, place] += 1
        log.bins[log.samples[0]] = positive * BINS + place
        log.samples[0] += 1


@lean_kernel
def text_bytes(batch: Batch, start: int, stop: int) -> int:
    """Bytes of a sample's names."""
    text = 0
    for entry in range(start, stop):
        text += batch.name_lengths[entry]
    return text


@lean_kernel
def learn_sample(
    batch: Batch, sample: int, sketch: Sketch, members: Members, head: Head, rule: Rule,
    log: Log, logging: bool, scratch: Scratch, class_of: I64, margins: F64,
) -> int:  # fmt: skip
    """One round: predict, check, then write. Nothing stays written unless the answer is LEARNT."""
    start, stop = batch.samples[sample], batch.samples[sample + 1]
    label, known = batch.labels[sample], head.counts[CLASSES]
    target, classes = 0, known
    if rule.loss == SOFTMAX_STEP:
        target = class_of[np.int64(label)]
        if target < 0:
            if known >= rule.max_classes:
                return ONE_CLASS_TOO_MANY
            target, classes = known, known + 1
    if not has_room(
        stop - start, text_bytes(batch, start, stop), classes, sketch, members, log, logging, rule
    ):  # fmt: skip
        return NEED_ROOM
    look_up(batch, start, stop, members, rule, scratch)
    predict(batch, start, stop, members, head, classes, scratch)
    loss = steps_of(label, target, rule, classes, scratch)
    right = is_right(label, target, known, rule, scratch.margins)
    t = head.counts[SAMPLES] + np.int64(head.heard[0]) + 1
    scale = batch.weights[sample] * rule.rate
    if rule.decay != 0.0:
        scale /= math.pow(np.float64(t), rule.decay)
    margins[sample] = scratch.margins[target]
    if not is_finite(head, loss, scale, classes, scratch) or not add_all(
        batch, start, stop, classes, scale, sketch, rule.depth, scratch, log.writes
    ):  # fmt: skip
        return OVERFLOWED
    if rule.loss == SOFTMAX_STEP:
        class_of[np.int64(label)] = target
        head.counts[CLASSES] = classes
    if rule.intercept:
        for line in range(classes):
            head.intercepts[line] += scale * scratch.steps[line]
    note_progress(head, label, loss, right, scratch.margins[0], rule, log)
    query_all(batch, start, stop, classes, sketch, members, scratch, log.moves, logging)
    return LEARNT


@lean_kernel
def learn(
    batch: Batch, sketch: Sketch, members: Members, head: Head, rule: Rule,
    log: Log, scratch: Scratch, class_of: I64, margins: F64, refused: I64, reasons: I64, cursor: I64,
) -> int:  # fmt: skip
    """Learn from the cursor on. DONE, or NEED_ROOM before the same call is made again.

    class_of[label] is the class that a label of this batch means, -1 before its first sample. refused[record] becomes
    the place in its record of the sample that can't be learnt, reasons[record] why.
    """
    while cursor[RECORD] < len(batch.records) - 1:
        record = cursor[RECORD]
        first, last = batch.records[record], batch.records[record + 1]
        logging = last - first > 1
        if cursor[SAMPLE] == first:
            begin_record(members, head, log)
        while cursor[SAMPLE] < last:
            outcome = learn_sample(
                batch, cursor[SAMPLE], sketch, members, head, rule, log, logging, scratch, class_of, margins
            )  # fmt: skip
            if outcome == NEED_ROOM:
                return NEED_ROOM
            if outcome == LEARNT:
                cursor[SAMPLE] += 1
            else:
                undo_record(sketch, members, head, log, class_of)
                refused[record], reasons[record] = cursor[SAMPLE] - first, outcome
                cursor[SAMPLE] = last
        cursor[RECORD] += 1
    return DONE
