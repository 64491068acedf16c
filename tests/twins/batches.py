"""Batches for tests of one sample a record."""

from collections.abc import Sequence

from streamsieve.batch import Batch
from streamsieve.checks.streams import KEY, Sample
from streamsieve.checks.streams import batch_of as batch_of_records


def batch_of(samples: Sequence[Sample], key: bytes = KEY) -> Batch:
    return batch_of_records([[sample] for sample in samples], key)
