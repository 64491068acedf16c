"""Matrices as batches: each column's name is hashed once, not once an entry."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from streamsieve.batch import F64, I32, I64, U8, U64, Batch
from streamsieve.decode.builder import merged
from streamsieve.decode.refusal import Refusal
from streamsieve.decode.samples import Rules
from streamsieve.kernels.hashing import hash_names, key_words


class Csr(NamedTuple):
    """Rows of a matrix: row i has the entries ``indptr[i]:indptr[i + 1]``. A column may occur twice in a row."""

    data: F64
    indices: I64
    indptr: I64


class Columns(NamedTuple):
    """The names of a matrix's columns, as batches carry them, and where each name stands."""

    names: list[str]
    places: dict[str, int]
    hashes: U64
    text: U8
    starts: I64
    lengths: I32

    def batch(self, rows: Csr, labels: F64, weights: F64) -> Batch:
        """One record a row. Takes the rows' arrays over: equal columns of a row are added up in place."""
        batch = Batch(
            records=np.arange(len(labels) + 1),
            samples=rows.indptr,
            hashes=self.hashes[rows.indices],
            values=rows.data,
            labels=labels,
            weights=weights,
            text=self.text,
            name_starts=self.starts[rows.indices],
            name_lengths=self.lengths[rows.indices],
        )
        return merged(batch)

    def weights(self, by_name: Mapping[str, float]) -> F64:
        """A weight for each column."""
        weights = np.zeros(len(self.names))
        for name, weight in by_name.items():
            if name in self.places:
                weights[self.places[name]] = weight
        return weights


def columns_of(names: Sequence[str], rules: Rules, hash_key: bytes) -> Columns:
    """Check and hash the names. Raises ValueError."""
    try:
        sample = rules.sample(names, [0.0] * len(names), 1.0, 1.0)
    except Refusal as refusal:
        raise ValueError(f"the columns' names: {refusal.detail}") from None
    places = {name: place for place, name in enumerate(names)}
    if len(places) < len(names):
        raise ValueError("two columns have the same name")
    text = np.frombuffer(bytearray(sample.text), np.uint8)
    lengths = np.array(sample.lengths, np.int32)
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    hashes = hash_names(text, starts, lengths, key_words(hash_key))
    return Columns(list(names), places, hashes, text, starts, lengths)
