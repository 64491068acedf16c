"""Samples into one batch: names hashed in one go, equal names of a sample added up."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from streamsieve.batch import F64, I64, U64, Batch
from streamsieve.decode.samples import Sample
from streamsieve.kernels.compiler import kernel
from streamsieve.kernels.hashing import hash_names


class Builder:
    """Takes accepted records in order; `build` gives the batch. Nothing that was refused ever comes here."""

    def __init__(self, key: U64) -> None:
        self._key = key
        self._text: list[bytes] = []
        self._lengths: list[int] = []
        self._values: list[float] = []
        self._labels: list[float] = []
        self._weights: list[float] = []
        self._classes: dict[str, int] = {}  # name -> number in this batch
        self._sample_ends = [0]
        self._record_ends = [0]

    def add(self, record: Sequence[Sample]) -> None:
        """Append one record's samples."""
        for sample in record:
            self._text.append(sample.text)
            self._lengths += sample.lengths
            self._values += sample.values
            self._labels.append(self._number(sample.label))
            self._weights.append(sample.weight)
            self._sample_ends.append(len(self._values))
        self._record_ends.append(len(self._labels))

    def _number(self, label: float | str) -> float:
        """The label itself, or the batch's number of a class."""
        return float(self._classes.setdefault(label, len(self._classes))) if isinstance(label, str) else label

    def build(self) -> Batch:
        """Everything added so far. A value of 0 keeps its place: its name was seen."""
        text = np.frombuffer(bytearray().join(self._text), np.uint8)
        lengths = np.array(self._lengths, np.int32)
        starts = np.cumsum(lengths, dtype=np.int64) - lengths
        classes = [name.encode() for name in self._classes]
        batch = Batch(
            records=np.array(self._record_ends, np.int64),
            samples=np.array(self._sample_ends, np.int64),
            hashes=hash_names(text, starts, lengths, self._key),
            values=np.array(self._values, np.float64) + 0.0,  # no -0.0: parsers differ on it
            labels=np.array(self._labels, np.float64),
            weights=np.array(self._weights, np.float64),
            text=text,
            name_starts=starts,
            name_lengths=lengths,
            class_text=np.frombuffer(bytearray().join(classes), np.uint8),
            class_ends=np.cumsum([len(name) for name in classes], dtype=np.int64),
        )
        return merged(batch)


def merged(batch: Batch) -> Batch:
    """The batch with equal names of a sample added up, in place, where the first of them stands."""
    kept = add_up(batch.samples, batch.hashes, batch.values)
    if kept.all():
        return batch
    kept_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(kept, dtype=np.int64)])
    return batch._replace(
        samples=kept_before[batch.samples],
        hashes=batch.hashes[kept],
        values=batch.values[kept],
        name_starts=batch.name_starts[kept],
        name_lengths=batch.name_lengths[kept],
    )


@kernel
def add_up(samples: I64, hashes: U64, values: F64) -> NDArray[np.bool_]:
    """Add each entry to the first of its sample with the same hash, in `values`; tell which entries were first.

    One open-addressing table serves all samples: a slot that points before the sample is as good as empty.
    """
    size = 2
    for sample in range(len(samples) - 1):
        while size < 2 * (samples[sample + 1] - samples[sample]):
            size *= 2
    slots = np.full(size, -1, np.int64)
    first = np.ones(len(hashes), np.bool_)
    for sample in range(len(samples) - 1):
        begin = samples[sample]
        for entry in range(begin, samples[sample + 1]):
            slot = np.int64(hashes[entry] & np.uint64(size - 1))
            while slots[slot] >= begin and hashes[slots[slot]] != hashes[entry]:
                slot = (slot + 1) & (size - 1)
            if slots[slot] >= begin:
                values[slots[slot]] += values[entry]
                first[entry] = False
            else:
                slots[slot] = entry
    return first
