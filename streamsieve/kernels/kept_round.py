"""The round of the learners that keep at most B weights, sample after sample over a batch.

Only kept rows and those of the sample can weigh anything after a step, so the B best are chosen among these. First
the kept rows get their new scores, then each outsider meets the worst of them: in this order no row is turned away by
one that falls later in the same sample.
"""

import math

from streamsieve.batch import F64, I64, Batch
from streamsieve.kernels.compiler import lean_kernel
from streamsieve.kernels.dual_averaging import (
    CHUNK_BITS,
    DONE,
    IGNORED,
    LEARNT,
    LOSS,
    N_ENTRIES,
    N_NAMES,
    N_SAMPLES,
    NEED_REBUILD,
    NEED_ROOM,
    RECORD,
    REFUSED,
    ROWS,
    SAMPLE,
    SAMPLES,
    Head,
    Log,
    Shard,
    begin_record,
    copy_into,
    look_up,
    note_progress,
)
from streamsieve.kernels.keeping import (
    IGNORED_NAME,
    NEW,
    SECOND,
    SOFS,
    WEIGHT,
    Rule,
    Stage,
    first_second,
    score_of,
    stage_step,
)
from streamsieve.kernels.kept import COUNT, STALE, Kept, append, heapify, let_go, offer, settle
from streamsieve.kernels.losses import loss_of, slope_of
from streamsieve.kernels.progress import BINS
from streamsieve.kernels.vocabulary import LONGEST_NAME, Vocabulary, add, forget_after, has_room

NEED_LOG = NEED_REBUILD + 1


@lean_kernel
def refill(kept: Kept, own: F64, size: int, rule: Rule) -> None:
    """Find the kept rows among all: those that weigh something; for SOFS the best, whatever they weigh."""
    let_go(kept)
    for row in range(size):
        if rule.batch > 1 and own[row, 0] != 0.0:
            append(kept, row)
        elif rule.batch == 1 and (own[row, 0] != 0.0 or rule.method == SOFS):
            offer(kept, rule.budget, row, score_of(own, row, rule))
    kept.counts[STALE] = 0


@lean_kernel
def note_row(row: int, own: F64, log: Log) -> None:
    """Log a row that is about to be overwritten."""
    at = log.sizes[N_ENTRIES]
    log.rows[at] = row
    for column in range(own.shape[1]):
        log.sums[at, column] = own[row, column]
    log.sizes[N_ENTRIES] = at + 1


@lean_kernel
def begin(words: Vocabulary, own: F64, kept: Kept, head: Head, log: Log) -> None:
    """Remember where the record began; later on only rows that a sample touches can join those logged here."""
    begin_record(words, head, log)
    for position in range(kept.counts[COUNT]):
        note_row(kept.rows[position], own, log)


@lean_kernel
def undo(words: Vocabulary, own: F64, kept: Kept, head: Head, log: Log) -> None:
    """Be as if the record had never come."""
    let_go(kept)
    for entry in range(log.sizes[N_ENTRIES] - 1, -1, -1):
        for column in range(own.shape[1]):
            own[log.rows[entry], column] = log.sums[entry, column]
    for sample in range(log.sizes[N_SAMPLES]):
        head.histogram[log.bins[sample] // BINS, log.bins[sample] % BINS] -= 1
    copy_into(head.counts, log.counts)
    copy_into(head.floats, log.floats)
    forget_after(words, log.sizes[N_NAMES])


@lean_kernel
def pass_over(batch: Batch, start: int, stop: int, found: I64, room: int) -> None:
    """Tell the new names that there will be rows for from those that will be ignored."""
    for entry in range(start, stop):
        if found[entry - start] == NEW:
            if room <= 0 or batch.name_lengths[entry] > LONGEST_NAME:
                found[entry - start] = IGNORED_NAME
            else:
                room -= 1


@lean_kernel
def add_names(
    batch: Batch, start: int, stop: int, found: I64, words: Vocabulary, shard: Shard, kept: Kept, head: Head, rule: Rule
) -> None:
    """Give the new names of a sample their rows; count the ignored ones."""
    for entry in range(start, stop):
        if found[entry - start] == IGNORED_NAME:
            head.counts[IGNORED] += 1
        elif found[entry - start] == NEW:
            length = batch.name_lengths[entry]
            row = add(words, batch.hashes[entry], batch.text, batch.name_starts[entry], length)
            shard.own[row, 0] = 0.0
            if shard.own.shape[1] > 1:
                shard.own[row, 1] = first_second(rule.method)
            kept.place[row] = 0
            shard.dirty[row >> CHUNK_BITS] = 1
            head.counts[ROWS] = row + 1
            found[entry - start] = row


@lean_kernel
def margin_of(batch: Batch, start: int, stop: int, found: I64, own: F64) -> float:
    """p = w.x in the entries' order; what is not kept weighs nothing."""
    margin = 0.0
    for entry in range(start, stop):
        if found[entry - start] >= 0:
            margin += own[found[entry - start], 0] * batch.values[entry]
    return margin


@lean_kernel
def write_row(shard: Shard, row: int, staged: F64, at: int) -> None:
    """Overwrite a row with what is staged."""
    for column in range(shard.own.shape[1]):
        shard.own[row, column] = staged[at, column]
    shard.dirty[row >> CHUNK_BITS] = 1


@lean_kernel
def drop(shard: Shard, row: int) -> None:
    """The weight of a row that lost its place restarts from zero; its second number stays."""
    if row >= 0:
        shard.own[row, 0] = 0.0
        shard.dirty[row >> CHUNK_BITS] = 1


@lean_kernel
def write_held(shard: Shard, kept: Kept, rule: Rule, stage: Stage) -> None:
    """Move all kept rows."""
    for position in range(kept.counts[COUNT]):
        row = kept.rows[position]
        write_row(shard, row, stage.held, position)
        kept.scores[position] = score_of(shard.own, row, rule)
    heapify(kept)


@lean_kernel
def write_touched(entries: int, found: I64, shard: Shard, kept: Kept, rule: Rule, stage: Stage) -> None:
    """Move the sample's rows; the kept ones among them to their new places."""
    for entry in range(entries):
        row = found[entry]
        if row >= 0 and (rule.shrinkage == 0.0 or kept.place[row] == 0):
            write_row(shard, row, stage.touched, entry)
            if kept.place[row] > 0 and rule.batch == 1:
                settle(kept, kept.place[row] - 1, row, score_of(shard.own, row, rule))


@lean_kernel
def choose(entries: int, found: I64, shard: Shard, kept: Kept, rule: Rule) -> None:
    """Each outsider of the sample gets in or weighs nothing."""
    for entry in range(entries):
        row = found[entry]
        if row < 0 or kept.place[row] > 0:
            continue
        if rule.batch > 1:
            if shard.own[row, 0] != 0.0:
                append(kept, row)
        elif rule.method == SOFS or shard.own[row, 0] != 0.0:
            drop(shard, offer(kept, rule.budget, row, score_of(shard.own, row, rule)))


@lean_kernel
def prune(shard: Shard, kept: Kept, rule: Rule) -> None:
    """Of a list longer than the budget, keep the best."""
    listed = kept.counts[COUNT]
    for position in range(listed):
        kept.scores[position] = score_of(shard.own, kept.rows[position], rule)
    kept.counts[COUNT] = min(listed, rule.budget)
    heapify(kept)
    for position in range(kept.counts[COUNT], listed):
        row, score = kept.rows[position], kept.scores[position]
        kept.place[row] = 0
        drop(shard, offer(kept, rule.budget, row, score))


@lean_kernel
def learn_sample(
    batch: Batch, sample: int, words: Vocabulary, shard: Shard, kept: Kept, head: Head, rule: Rule, stage: Stage,
    log: Log, logging: bool, found: I64, margins: F64,
) -> int:  # fmt: skip
    """One round: predict, stage, check, then write. Nothing is written unless the answer is LEARNT."""
    start, stop = batch.samples[sample], batch.samples[sample + 1]
    new, text = look_up(batch, start, stop, words, found)
    room = max(rule.max_names - words.size[0], 0)
    if new > 0:
        if not has_room(words, min(new, room), text):
            return NEED_ROOM
        pass_over(batch, start, stop, found, room)
    margin = margin_of(batch, start, stop, found, shard.own)
    if rule.intercept:
        margin += head.floats[WEIGHT]
    margins[sample] = margin
    label = batch.labels[sample]
    slope = batch.weights[sample] * slope_of(rule.loss, label, margin)
    loss = loss_of(rule.loss, label, margin)
    if not (math.isfinite(margin) and math.isfinite(head.floats[LOSS] + loss) and math.isfinite(slope)):
        return REFUSED
    moves = slope != 0.0 or rule.shrinkage > 0.0
    if moves and not stage_step(batch, start, stop, found, shard.own, kept, head, rule, stage, slope, loss):
        return REFUSED
    if new > 0:
        add_names(batch, start, stop, found, words, shard, kept, head, rule)
    note_progress(head, label, margin, loss, log, logging)
    head.counts[SAMPLES] += 1
    if logging:
        for entry in range(stop - start):
            if found[entry] >= 0:
                note_row(found[entry], shard.own, log)
    if moves:
        if rule.shrinkage > 0.0:
            write_held(shard, kept, rule, stage)
        write_touched(stop - start, found, shard, kept, rule, stage)
        if rule.intercept:
            head.floats[WEIGHT], head.floats[SECOND] = stage.intercept[0, 0], stage.intercept[0, 1]
    if moves or (rule.method == SOFS and kept.counts[COUNT] < rule.budget):
        choose(stop - start, found, shard, kept, rule)
    if rule.batch > 1 and head.counts[SAMPLES] % rule.batch == 0:
        prune(shard, kept, rule)
    return LEARNT


@lean_kernel
def learn(
    batch: Batch, words: Vocabulary, shard: Shard, kept: Kept, head: Head, rule: Rule, stage: Stage,
    log: Log, found: I64, margins: F64, refused: I64, cursor: I64,
) -> int:  # fmt: skip
    """Learn from the cursor on. DONE, or what is needed before the same call is made again.

    refused[record] becomes the place in its record of the sample that would overflow.
    """
    if kept.counts[STALE]:
        refill(kept, shard.own, words.size[0], rule)
    while cursor[RECORD] < len(batch.records) - 1:
        record = cursor[RECORD]
        first, last = batch.records[record], batch.records[record + 1]
        logging = last - first > 1
        if logging and cursor[SAMPLE] == first:
            if len(log.rows) < kept.counts[COUNT] + batch.samples[last] - batch.samples[first]:
                return NEED_LOG
            begin(words, shard.own, kept, head, log)
        while cursor[SAMPLE] < last:
            outcome = learn_sample(
                batch, cursor[SAMPLE], words, shard, kept, head, rule, stage, log, logging, found, margins
            )  # fmt: skip
            if outcome == LEARNT:
                cursor[SAMPLE] += 1
            elif outcome == REFUSED:
                if logging:
                    undo(words, shard.own, kept, head, log)
                    refill(kept, shard.own, words.size[0], rule)
                refused[record] = cursor[SAMPLE] - first
                cursor[SAMPLE] = last
            else:
                return outcome
        cursor[RECORD] += 1
    return DONE
