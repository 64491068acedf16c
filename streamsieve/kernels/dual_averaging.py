"""B-ARDA's round, sample after sample over a batch (Zhai et al., algorithm 1, in closed form), and l1-ARDA's.

gradients = sum g (G), squares = sum g^2 (s2), one pair a row; the two differ only in the weights that follow from them
(`Rule.truncates`), and l1-ARDA needs no band. Everything a sample would write is checked first, so
that a sample whose sums overflow leaves no trace; a record of many samples keeps a log to be undone by.

With forgetting, sums are kept in a scale that grows (see `adaptive`): a gradient is multiplied by the scale of its
round, and whenever the count of samples is a multiple of `Rule.period`, all sums are scaled down. That depends on the
samples alone, so that batches may still be cut anywhere.
"""

import math
from typing import NamedTuple, TypeVar

import numpy as np

from streamsieve.batch import F64, I32, I64, U8, Batch
from streamsieve.kernels.adaptive import (
    Clock,
    Moment,
    Rule,
    count_of,
    moment_at,
    sparse_weight,
    sum_at,
    swell_of,
)
from streamsieve.kernels.band import (
    FOREVER,
    HORIZON,
    MIDDLE,
    OUTSIDE,
    STALE,
    Band,
    flat_of,
    is_current,
    is_quiet,
    look,
    move,
    place_of,
    quiet_of,
    worst_kept,
)
from streamsieve.kernels.compiler import lean_kernel
from streamsieve.kernels.losses import loss_of, slope_of
from streamsieve.kernels.progress import BINS, bin_of
from streamsieve.kernels.vocabulary import LONGEST_NAME, Vocabulary, add, find, forget_after, has_room

Counts = TypeVar("Counts", I64, F64)

DONE, LEARNT, REFUSED, NEED_ROOM, NEED_REBUILD, NEED_RESCALE, NEED_TOTALS = range(7)
SAMPLES, ROWS, IGNORED, CORRECT = range(4)  # of Head.counts
LOSS, GRADIENT, SQUARE = range(3)  # of Head.floats; the latter two are the intercept's sums
N_ENTRIES, N_SAMPLES, N_NAMES, N_UNSCALED = range(4)  # of Log.sizes
RECORD, SAMPLE = range(2)  # of a cursor
CHUNK_BITS = 10  # 1,024 rows a chunk


class Shard(NamedTuple):
    """Sums by row: this shard's own and its peers'.

    Own rows are numbered as this shard's samples brought them; with peers, names heard from them come in between,
    and own_row, own_order translate (-1: only heard of). Without peers the last three but `dirty` are empty.
    """

    own: F64
    others: F64
    own_row: I32
    own_order: I32
    dirty: U8  # by chunk of own rows


class Head(NamedTuple):
    """What is not by row: counters, metrics, the intercept; `heard` is (count, gradient, square) of the peers."""

    counts: I64
    floats: F64
    histogram: I64
    heard: F64


class Log(NamedTuple):
    """What a record of many samples overwrote, in order, and the head as it was before.

    If sums were scaled down within the record, `unscaled` is all of them just before the first time, and
    sizes[N_UNSCALED] how many entries were logged by then; else that is -1.
    """

    rows: I32
    sums: F64
    bins: I64
    counts: I64
    floats: F64
    sizes: I64
    unscaled: F64


@lean_kernel
def round_of(head: Head, rule: Rule) -> int:
    """The samples so far, the peers' included; with forgetting those of this shard, by which everything ages."""
    return int(head.counts[SAMPLES]) + (int(head.heard[0]) if rule.fade == 0.0 else 0)


@lean_kernel
def new_clock(samples: int, heard: float, rule: Rule) -> Clock:
    """The clock of a shard of so many samples that has heard of so many rounds."""
    if rule.fade == 0.0:
        return Clock(rule.drag, rule.delta, 0.0, 0, FOREVER, 0.0)
    base = samples // rule.period * rule.period
    return Clock(rule.drag, rule.delta, rule.fade, base, base + rule.period, heard)


@lean_kernel
def clock_of(head: Head, rule: Rule) -> Clock:
    """The clock of this shard."""
    return new_clock(int(head.counts[SAMPLES]), float(head.heard[0]), rule)


@lean_kernel
def copy_into(target: Counts, source: Counts) -> None:
    """target[:] = source, which numba would do by way of a temporary."""
    for at in range(len(source)):
        target[at] = source[at]


@lean_kernel
def begin_record(words: Vocabulary, head: Head, log: Log) -> None:
    """Remember where the record began."""
    log.sizes[N_ENTRIES], log.sizes[N_SAMPLES], log.sizes[N_NAMES] = 0, 0, words.size[0]
    log.sizes[N_UNSCALED] = -1
    copy_into(log.counts, head.counts)
    copy_into(log.floats, head.floats)


@lean_kernel
def undo_record(words: Vocabulary, shard: Shard, head: Head, log: Log) -> None:
    """Be as if the record had never come."""
    entries = log.sizes[N_ENTRIES]
    if log.sizes[N_UNSCALED] >= 0:
        entries = log.sizes[N_UNSCALED]
        for row in range(len(log.unscaled)):
            for column in range(shard.own.shape[1]):
                shard.own[row, column] = log.unscaled[row, column]
    for entry in range(entries - 1, -1, -1):
        for column in range(shard.own.shape[1]):
            shard.own[log.rows[entry], column] = log.sums[entry, column]
    for sample in range(log.sizes[N_SAMPLES]):
        head.histogram[log.bins[sample] // BINS, log.bins[sample] % BINS] -= 1
    if len(shard.own_row) > 0:
        for own_row in range(log.counts[ROWS], head.counts[ROWS]):
            shard.own_row[shard.own_order[own_row]] = -1
    copy_into(head.counts, log.counts)
    copy_into(head.floats, log.floats)
    forget_after(words, log.sizes[N_NAMES])


@lean_kernel
def look_up(batch: Batch, start: int, stop: int, words: Vocabulary, found: I64) -> tuple[int, int]:
    """The rows of a sample's entries, -1 where new; how many are new, and the bytes of their names."""
    slots, known, hashes, lengths = words.slots, words.hashes, batch.hashes, batch.name_lengths
    new, text = 0, 0
    for entry in range(start, stop):
        row = find(slots, known, hashes[entry])
        found[entry - start] = row
        if row < 0:
            new += 1
            text += lengths[entry]
    return new, text


@lean_kernel
def margin_of(
    batch: Batch, start: int, stop: int, found: I64, shard: Shard, band: Band, t: int, rule: Rule, clock: Clock
) -> float:
    """p = w.x over the kept features, in the entries' order."""
    own, others, place, values = shard.own, shard.others, band.place, batch.values
    moment = moment_at(clock, t)
    worst_score, worst_row = np.inf, -1  # of the middle's kept rows; looked up when first needed
    unknown = True
    margin = 0.0
    for entry in range(start, stop):
        row = found[entry - start]
        if row < 0 or place[row] == OUTSIDE:
            continue
        root = math.sqrt(sum_at(own, others, row, 1))
        weight = -rule.rate * sum_at(own, others, row, 0) / (moment.reach + root)
        if place[row] == MIDDLE:
            if unknown:
                worst_score, worst_row = worst_kept(band, t, rule, clock)
                unknown = False
            score = (moment.delta + root) * weight * weight
            if score < worst_score or (score == worst_score and row > worst_row):
                continue
        margin += weight * values[entry]
    return margin / swell_of(clock, t)


@lean_kernel
def sparse_margin(
    batch: Batch, start: int, stop: int, found: I64, shard: Shard, t: int, rule: Rule, clock: Clock
) -> float:
    """p = w.x over all features of l1-ARDA, in the entries' order."""
    own, others, values = shard.own, shard.others, batch.values
    count, swell = count_of(clock, t), swell_of(clock, t)
    margin = 0.0
    for entry in range(start, stop):
        row = found[entry - start]
        if row >= 0:
            gradient = sum_at(own, others, row, 0) / (swell * swell)
            curvature = rule.delta + math.sqrt(sum_at(own, others, row, 1)) / swell
            margin += sparse_weight(gradient, curvature, count, rule) * values[entry]
    return margin


@lean_kernel
def intercept_of(head: Head, moment: Moment, swell: float, rule: Rule) -> float:
    """The intercept's weight: a feature that is always 1 and always kept."""
    root = math.sqrt(head.floats[SQUARE] + head.heard[2])
    return float(-rule.rate * (head.floats[GRADIENT] + head.heard[1]) / (moment.reach + root) / swell)


@lean_kernel
def fits(batch: Batch, start: int, stop: int, found: I64, shard: Shard, slope: float, scale: float) -> bool:
    """Would every sum stay finite? Zero times anything infinite is not a number."""
    own, others, values = shard.own, shard.others, batch.values
    probe = 0.0
    for entry in range(start, stop):
        row = found[entry - start]
        gradient = slope * values[entry]
        square = gradient * gradient * scale
        gradient *= scale
        if row >= 0:
            gradient += sum_at(own, others, row, 0)
            square += sum_at(own, others, row, 1)
        probe += gradient * 0.0 + square * 0.0
    return probe == 0.0


@lean_kernel
def head_fits(head: Head, margin: float, loss: float, slope: float, scale: float, intercept: bool) -> bool:
    """The same for what is not by row."""
    finite = math.isfinite(margin) and math.isfinite(head.floats[LOSS] + loss) and math.isfinite(slope)
    if not intercept:
        return finite
    square = head.floats[SQUARE] + head.heard[2] + slope * slope * scale
    return finite and math.isfinite(square) and math.isfinite(head.floats[GRADIENT] + head.heard[1] + slope * scale)


@lean_kernel
def know(row: int, shard: Shard, head: Head) -> None:
    """Number a row that an own sample brought for the first time."""
    own_row = head.counts[ROWS]
    if len(shard.own_row) > 0:
        if shard.own_row[row] >= 0:
            return
        shard.own_row[row] = own_row
        shard.own_order[own_row] = row
    shard.dirty[own_row >> CHUNK_BITS] = 1
    head.counts[ROWS] = own_row + 1


@lean_kernel
def clear_row(row: int, shard: Shard, place: U8) -> None:
    """Ready a row for a new name; where no band is needed, `place` is empty."""
    for column in range(shard.own.shape[1]):
        shard.own[row, column] = 0.0
    if len(shard.own_row) > 0:
        for column in range(shard.own.shape[1]):
            shard.others[row, column] = 0.0
        shard.own_row[row] = -1
    if len(place) > 0:
        place[row] = OUTSIDE


@lean_kernel
def add_names(
    batch: Batch, start: int, stop: int, found: I64, words: Vocabulary, shard: Shard, place: U8, head: Head, rule: Rule
) -> None:
    """Give the new names of a sample their rows; past the limit they are ignored and counted."""
    for entry in range(start, stop):
        row = found[entry - start]
        if row < 0:
            length = batch.name_lengths[entry]
            if words.size[0] >= rule.max_names or length > LONGEST_NAME:
                head.counts[IGNORED] += 1
                continue
            row = add(words, batch.hashes[entry], batch.text, batch.name_starts[entry], length)
            found[entry - start] = row
            clear_row(row, shard, place)
            know(row, shard, head)
        elif len(shard.own_row) > 0:
            know(row, shard, head)


@lean_kernel
def add_up(batch: Batch, start: int, stop: int, found: I64, shard: Shard, slope: float, scale: float) -> None:
    """G += g, s2 += g^2 for each entry."""
    own, own_row, dirty, values = shard.own, shard.own_row, shard.dirty, batch.values
    for entry in range(start, stop):
        row = found[entry - start]
        if row >= 0:
            gradient = slope * values[entry]
            own[row, 0] += gradient * scale
            own[row, 1] += gradient * gradient * scale
            dirty[(own_row[row] if len(own_row) > 0 else row) >> CHUNK_BITS] = 1


@lean_kernel
def write(
    batch: Batch, start: int, stop: int, found: I64, shard: Shard, band: Band, t: int, rule: Rule, clock: Clock,
    slope: float, scale: float,
) -> None:  # fmt: skip
    """G += g, s2 += g^2 for each entry, and each row to its place at round t."""
    if t > band.counts[HORIZON]:
        band.counts[STALE] = 1
    own, others, own_row, dirty, values = shard.own, shard.others, shard.own_row, shard.dirty, batch.values
    place, sight = band.place, look(band, t, clock)
    quiet, flat = quiet_of(sight), flat_of(sight)
    for entry in range(start, stop):
        row = found[entry - start]
        if row < 0:
            continue
        gradient = slope * values[entry]
        own[row, 0] += gradient * scale
        own[row, 1] += gradient * gradient * scale
        dirty[(own_row[row] if len(own_row) > 0 else row) >> CHUNK_BITS] = 1
        pull = -rule.rate * sum_at(own, others, row, 0)
        square = sum_at(own, others, row, 1)
        if place[row] == OUTSIDE and is_quiet(pull, square, quiet, flat):
            continue
        root = math.sqrt(square)
        target = place_of(band.edges, row, pull, root, sight)
        if target == MIDDLE or target != place[row]:
            move(band, row, pull, root, target, t, clock)


@lean_kernel
def note_sums(start: int, stop: int, found: I64, shard: Shard, log: Log) -> None:
    """Log the sums that a sample is about to overwrite."""
    at = log.sizes[N_ENTRIES]
    for entry in range(stop - start):
        row = found[entry]
        if row >= 0:
            log.rows[at] = row
            for column in range(shard.own.shape[1]):
                log.sums[at, column] = shard.own[row, column]
            at += 1
    log.sizes[N_ENTRIES] = at


@lean_kernel
def note_progress(head: Head, label: float, margin: float, loss: float, log: Log, logging: bool) -> None:
    """Progressive metrics: predict +1 iff p > 0."""
    positive = 1 if label > 0.0 else 0
    head.counts[CORRECT] += (margin > 0.0) == (label > 0.0)
    head.floats[LOSS] += loss
    place = bin_of(margin)
    head.histogram[positive, place] += 1
    if logging:
        log.bins[log.sizes[N_SAMPLES]] = positive * BINS + place
        log.sizes[N_SAMPLES] += 1


@lean_kernel
def learn_sample(
    batch: Batch, sample: int, words: Vocabulary, shard: Shard, band: Band, head: Head, rule: Rule,
    log: Log, logging: bool, found: I64, margins: F64,
) -> int:  # fmt: skip
    """One round: predict, check, then write. Nothing is written unless the answer is LEARNT."""
    start, stop = batch.samples[sample], batch.samples[sample + 1]
    t, clock = round_of(head, rule), clock_of(head, rule)
    if rule.truncates and not is_current(band, t, rule, clock):
        return NEED_REBUILD
    new, text = look_up(batch, start, stop, words, found)
    if new > 0 and not has_room(words, min(new, max(rule.max_names - words.size[0], 0)), text):
        return NEED_ROOM
    if rule.truncates:
        margin = margin_of(batch, start, stop, found, shard, band, t, rule, clock)
    else:
        margin = sparse_margin(batch, start, stop, found, shard, t, rule, clock)
    if rule.intercept:
        margin += intercept_of(head, moment_at(clock, t), swell_of(clock, t), rule)
    margins[sample] = margin
    label = batch.labels[sample]
    slope = batch.weights[sample] * slope_of(rule.loss, label, margin)
    loss = loss_of(rule.loss, label, margin)
    scale = swell_of(clock, t + 1) * swell_of(clock, t + 1)
    whole = head_fits(head, margin, loss, slope, scale, rule.intercept)
    if not whole or not fits(batch, start, stop, found, shard, slope, scale):
        return REFUSED
    if new > 0 or len(shard.own_row) > 0:
        add_names(batch, start, stop, found, words, shard, band.place, head, rule)
    note_progress(head, label, margin, loss, log, logging)
    head.counts[SAMPLES] += 1
    if slope != 0.0:
        if logging:
            note_sums(start, stop, found, shard, log)
        if rule.intercept:
            head.floats[GRADIENT] += slope * scale
            head.floats[SQUARE] += slope * slope * scale
        if rule.truncates:
            write(batch, start, stop, found, shard, band, t + 1, rule, clock, slope, scale)
        else:
            add_up(batch, start, stop, found, shard, slope, scale)
    return LEARNT


@lean_kernel
def learn(
    batch: Batch, words: Vocabulary, shard: Shard, band: Band, head: Head, rule: Rule,
    log: Log, found: I64, margins: F64, refused: I64, cursor: I64,
) -> int:  # fmt: skip
    """Learn from the cursor on. DONE, or what is needed before the same call is made again.

    refused[record] becomes the place in its record of the sample that would overflow.
    """
    while cursor[RECORD] < len(batch.records) - 1:
        record = cursor[RECORD]
        first, last = batch.records[record], batch.records[record + 1]
        logging = last - first > 1
        if logging and cursor[SAMPLE] == first:
            begin_record(words, head, log)
        while cursor[SAMPLE] < last:
            outcome = learn_sample(
                batch, cursor[SAMPLE], words, shard, band, head, rule, log, logging, found, margins
            )  # fmt: skip
            if outcome == LEARNT:
                cursor[SAMPLE] += 1
                if rule.period > 0 and head.counts[SAMPLES] % rule.period == 0:
                    return NEED_RESCALE
            elif outcome == REFUSED:
                if logging:
                    if rule.truncates:
                        for row in range(log.sizes[N_NAMES], words.size[0]):
                            band.place[row] = OUTSIDE  # a row without a name is never anywhere else
                    undo_record(words, shard, head, log)
                    band.counts[STALE] = 1
                refused[record] = cursor[SAMPLE] - first
                cursor[SAMPLE] = last
                if logging and log.sizes[N_UNSCALED] >= 0:
                    return NEED_TOTALS
            else:
                return outcome
        cursor[RECORD] += 1
    return DONE
