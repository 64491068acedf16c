"""Decoded records joined into one batch, and dealt out again in another order."""

from collections.abc import Iterator, Sequence

import numpy as np

from streamsieve.batch import F64, I64, Batch, Decoded

RECORDS_A_BATCH = 4_096


def joined(parts: Sequence[Decoded]) -> Decoded:
    """All of them as one; positions and rejects are taken as they are, so they must count through the whole file."""
    batches = [part.batch for part in parts]
    whole = Batch(
        records=_stacked([batch.records for batch in batches]),
        samples=_stacked([batch.samples for batch in batches]),
        hashes=np.concatenate([batch.hashes for batch in batches]),
        values=np.concatenate([batch.values for batch in batches]),
        labels=np.concatenate(_shifted_classes(batches)),
        weights=np.concatenate([batch.weights for batch in batches]),
        text=np.concatenate([batch.text for batch in batches]),
        name_starts=_shifted_names(batches),
        name_lengths=np.concatenate([batch.name_lengths for batch in batches]),
        class_text=np.concatenate([batch.class_text for batch in batches]),
        class_ends=_stacked([np.concatenate([[0], batch.class_ends]) for batch in batches])[1:],
    )
    positions = np.concatenate([part.positions for part in parts])
    return Decoded(whole, positions, [reject for part in parts for reject in part.rejects])


def shuffled(whole: Decoded, random: np.random.Generator) -> Iterator[Decoded]:
    """The records in a fresh random order, in batches; the rejects come with the first."""
    order = random.permutation(whole.batch.record_count)
    rejects = whole.rejects
    for start in range(0, max(len(order), 1), RECORDS_A_BATCH):
        dealt = order[start : start + RECORDS_A_BATCH]
        yield Decoded(taken(whole.batch, dealt), whole.positions[dealt], rejects)
        rejects = []


def taken(batch: Batch, records: I64) -> Batch:
    """These records of the batch, in this order; the text is shared, not copied."""
    samples = _ranges(batch.records[records], batch.records[records + 1])
    entries = _ranges(batch.samples[samples], batch.samples[samples + 1])
    return Batch(
        records=_bounds(batch.records[records + 1] - batch.records[records]),
        samples=_bounds(batch.samples[samples + 1] - batch.samples[samples]),
        hashes=batch.hashes[entries],
        values=batch.values[entries],
        labels=batch.labels[samples],
        weights=batch.weights[samples],
        text=batch.text,
        name_starts=batch.name_starts[entries],
        name_lengths=batch.name_lengths[entries],
        class_text=batch.class_text,
        class_ends=batch.class_ends,
    )


def _bounds(counts: I64) -> I64:
    """Where each run starts, and the end of the last."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(counts, dtype=np.int64)])


def _ranges(starts: I64, ends: I64) -> I64:
    """starts[0] .. ends[0] - 1, then starts[1] .. ends[1] - 1, and so on.

    >>> _ranges(np.array([5, 2]), np.array([7, 5]))
    array([5, 6, 2, 3, 4])
    """
    bounds = _bounds(ends - starts)
    return np.repeat(starts - bounds[:-1], ends - starts) + np.arange(bounds[-1])


def _stacked(bounds: Sequence[I64]) -> I64:
    """Bounds of runs laid end to end.

    >>> _stacked([np.array([0, 2]), np.array([0, 1, 4])])
    array([0, 2, 3, 6])
    """
    return _bounds(np.concatenate([np.diff(each) for each in bounds]))


def _shifted_classes(batches: Sequence[Batch]) -> list[F64]:
    """Each batch's labels; those that are numbers of classes count through all of them."""
    before = _bounds(np.array([len(batch.class_ends) for batch in batches], np.int64))
    return [batch.labels + shift for batch, shift in zip(batches, before, strict=False)]


def _shifted_names(batches: Sequence[Batch]) -> I64:
    before = _bounds(np.array([len(batch.text) for batch in batches], np.int64))
    return np.concatenate([batch.name_starts + shift for batch, shift in zip(batches, before, strict=False)])
