"""Streams to check learners with: records of samples as plain values, and the batch that a decoder would make."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from streamsieve.batch import Batch
from streamsieve.kernels.hashing import hash_names, key_words


class Sample(NamedTuple):
    """One sample: label, features, weight."""

    y: float
    x: Mapping[str, float]
    w: float = 1.0


Record = Sequence[Sample]
Stream = Sequence[Record]

KEY = b"a key for checks"


def batch_of(records: Stream, key: bytes = KEY) -> Batch:
    """The batch of some records."""
    samples = [sample for record in records for sample in record]
    names = [name.encode() for sample in samples for name in sample.x]
    lengths = np.array([len(name) for name in names], np.int32)
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    text = np.frombuffer(b"".join(names), np.uint8).copy()
    return Batch(
        records=_bounds([len(record) for record in records]),
        samples=_bounds([len(sample.x) for sample in samples]),
        hashes=hash_names(text, starts, lengths, key_words(key)),
        values=np.array([value for sample in samples for value in sample.x.values()], np.float64),
        labels=np.array([sample.y for sample in samples], np.float64),
        weights=np.array([sample.w for sample in samples], np.float64),
        text=text,
        name_starts=starts,
        name_lengths=lengths,
    )


def random_stream(seed: int, records: int, names: int = 60, samples_a_record: int = 3) -> Stream:
    """Sparse samples with a few telling names, ties, weights and empty samples among them; binary labels."""
    random = np.random.default_rng(seed)
    truth = random.normal(size=names) * (np.arange(names) < names // 4)
    return [
        [_random_sample(random, truth) for _ in range(1 + int(random.integers(samples_a_record)))]
        for _ in range(records)
    ]


def _random_sample(random: np.random.Generator, truth: "np.ndarray[tuple[int, ...], np.dtype[np.float64]]") -> Sample:
    chosen = random.permutation(len(truth))[: int(random.integers(12))]
    values = random.choice([1.0, 1.0, 2.0, -0.5, float(random.normal())], size=len(chosen))
    y = 1.0 if float(truth[chosen] @ values) + 0.3 * float(random.normal()) > 0 else -1.0
    weight = float(random.choice([1.0, 1.0, 0.25, 3.0]))
    return Sample(y, {f"n{name}": float(value) for name, value in zip(chosen, values, strict=True)}, weight)


def _bounds(lengths: Sequence[int]) -> "np.ndarray[tuple[int, ...], np.dtype[np.int64]]":
    return np.concatenate([[0], np.cumsum(np.array(lengths, np.int64))]).astype(np.int64)
