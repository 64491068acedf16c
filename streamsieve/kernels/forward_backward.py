"""Ada-Fobos' round, sample after sample over a batch: a gradient step, then a soft threshold, scaled by feature.

A row holds its weight w, s2 = sum g^2, and the round up to which its thresholds are applied. H = delta + sqrt(s2)
stands still while a row is untouched, so that the thresholds it missed are one: their number times l1 eta / H.
"""

import math

from streamsieve.batch import F64, I64, Batch
from streamsieve.kernels.adaptive import Rule, curvature_of
from streamsieve.kernels.compiler import lean_kernel
from streamsieve.kernels.dual_averaging import (
    CHUNK_BITS,
    DONE,
    GRADIENT,
    LEARNT,
    LOSS,
    NEED_ROOM,
    RECORD,
    REFUSED,
    SAMPLE,
    SAMPLES,
    SQUARE,
    Head,
    Log,
    Shard,
    add_names,
    begin_record,
    look_up,
    note_progress,
    note_sums,
    undo_record,
)
from streamsieve.kernels.losses import loss_of, slope_of
from streamsieve.kernels.vocabulary import Vocabulary, has_room

WEIGHT, SQUARES, ROUND = range(3)  # columns of a row
INTERCEPT = GRADIENT  # of Head.floats: here it is the intercept's weight, not its sum of gradients


@lean_kernel
def shrunk(number: float, by: float) -> float:
    """Soft threshold: towards zero by so much, not past it."""
    if number > by:
        return number - by
    return number + by if number < -by else 0.0


@lean_kernel
def weight_at(own: F64, row: int, t: int, rule: Rule) -> float:
    """A row's weight after round t, the thresholds that it missed applied."""
    if own[row, WEIGHT] == 0.0:
        return 0.0
    curvature = curvature_of(own[row, SQUARES], rule.delta)
    return shrunk(own[row, WEIGHT], (t - own[row, ROUND]) * (rule.l1 * rule.rate / curvature))


@lean_kernel
def stepped(weight: float, square: float, gradient: float, l1: float, rule: Rule) -> float:
    """z = w - eta g / H, then its threshold; square = s2 with this gradient in it."""
    curvature = curvature_of(square, rule.delta)
    return shrunk(weight - rule.rate * gradient / curvature, l1 * rule.rate / curvature)


@lean_kernel
def margin_of(batch: Batch, start: int, stop: int, found: I64, own: F64, t: int, rule: Rule) -> float:
    """p = w.x, in the entries' order."""
    margin = 0.0
    for entry in range(start, stop):
        if found[entry - start] >= 0:
            margin += weight_at(own, found[entry - start], t, rule) * batch.values[entry]
    return margin


@lean_kernel
def fits(batch: Batch, start: int, stop: int, found: I64, own: F64, t: int, rule: Rule, slope: float) -> bool:
    """Would every weight and sum stay finite? Zero times anything infinite is not a number."""
    probe = 0.0
    for entry in range(start, stop):
        row = found[entry - start]
        gradient = slope * batch.values[entry]
        weight, square = 0.0, gradient * gradient
        if row >= 0:
            weight = weight_at(own, row, t, rule)
            square += own[row, SQUARES]
        probe += stepped(weight, square, gradient, rule.l1, rule) * 0.0 + square * 0.0
    return probe == 0.0


@lean_kernel
def write(batch: Batch, start: int, stop: int, found: I64, shard: Shard, t: int, rule: Rule, slope: float) -> None:
    """Catch up to round t, then step to t + 1, each entry's row."""
    own, own_row, dirty = shard.own, shard.own_row, shard.dirty
    for entry in range(start, stop):
        row = found[entry - start]
        if row < 0:
            continue
        gradient = slope * batch.values[entry]
        weight = weight_at(own, row, t, rule)
        own[row, SQUARES] += gradient * gradient
        own[row, WEIGHT] = stepped(weight, own[row, SQUARES], gradient, rule.l1, rule)
        own[row, ROUND] = t + 1
        dirty[(own_row[row] if len(own_row) > 0 else row) >> CHUNK_BITS] = 1


@lean_kernel
def learn_sample(
    batch: Batch, sample: int, words: Vocabulary, shard: Shard, head: Head, rule: Rule,
    log: Log, logging: bool, found: I64, margins: F64,
) -> int:  # fmt: skip
    """One round: predict, check, then write. Nothing is written unless the answer is LEARNT."""
    start, stop = batch.samples[sample], batch.samples[sample + 1]
    t = int(head.counts[SAMPLES])
    new, text = look_up(batch, start, stop, words, found)
    if new > 0 and not has_room(words, min(new, max(rule.max_names - words.size[0], 0)), text):
        return NEED_ROOM
    margin = margin_of(batch, start, stop, found, shard.own, t, rule)
    if rule.intercept:
        margin += head.floats[INTERCEPT]
    margins[sample] = margin
    label = batch.labels[sample]
    slope = batch.weights[sample] * slope_of(rule.loss, label, margin)
    loss = loss_of(rule.loss, label, margin)
    square = head.floats[SQUARE] + slope * slope
    intercept = stepped(head.floats[INTERCEPT], square, slope, 0.0, rule)
    whole = math.isfinite(margin) and math.isfinite(head.floats[LOSS] + loss) and math.isfinite(slope)
    if rule.intercept:
        whole = whole and math.isfinite(square) and math.isfinite(intercept)
    if not whole or not fits(batch, start, stop, found, shard.own, t, rule, slope):
        return REFUSED
    if new > 0 or len(shard.own_row) > 0:
        add_names(batch, start, stop, found, words, shard, shard.dirty[:0], head, rule)
    note_progress(head, label, margin, loss, log, logging)
    head.counts[SAMPLES] += 1
    if slope != 0.0:
        if logging:
            note_sums(start, stop, found, shard, log)
        if rule.intercept:
            head.floats[INTERCEPT], head.floats[SQUARE] = intercept, square
        write(batch, start, stop, found, shard, t, rule, slope)
    return LEARNT


@lean_kernel
def learn(
    batch: Batch, words: Vocabulary, shard: Shard, head: Head, rule: Rule,
    log: Log, found: I64, margins: F64, refused: I64, cursor: I64,
) -> int:  # fmt: skip
    """Learn from the cursor on. DONE, or NEED_ROOM before the same call is made again; as in `dual_averaging`."""
    while cursor[RECORD] < len(batch.records) - 1:
        record = cursor[RECORD]
        first, last = batch.records[record], batch.records[record + 1]
        logging = last - first > 1
        if logging and cursor[SAMPLE] == first:
            begin_record(words, head, log)
        while cursor[SAMPLE] < last:
            outcome = learn_sample(batch, cursor[SAMPLE], words, shard, head, rule, log, logging, found, margins)
            if outcome == LEARNT:
                cursor[SAMPLE] += 1
            elif outcome == REFUSED:
                if logging:
                    undo_record(words, shard, head, log)
                refused[record] = cursor[SAMPLE] - first
                cursor[SAMPLE] = last
            else:
                return outcome
        cursor[RECORD] += 1
    return DONE
