"""Batches for tests of one sample a record."""

from collections.abc import Sequence

from streamsieve.batch import Batch
from streamsieve.checks.streams import KEY, Sample
from streamsieve.checks.streams import batch_of as batch_of_records


def batch_of(samples: Sequence[Sample], key: bytes = KEY) -> Batch:
    return batch_of_records([[sample] for sample in samples], key)


def cut(batch: Batch, start: int, stop: int) -> Batch:
    """The records start to stop of a batch of one sample a record."""
    first, last = batch.samples[start], batch.samples[stop]
    entries = {name: getattr(batch, name)[first:last] for name in ("hashes", "values", "name_starts", "name_lengths")}
    return batch._replace(
        records=batch.records[: stop - start + 1],
        samples=batch.samples[start : stop + 1] - first,
        labels=batch.labels[start:stop],
        weights=batch.weights[start:stop],
        **entries,
    )
