"""Predicting batches from a selection alone, as whoever is served it would."""

from typing import NamedTuple

import numpy as np

from streamsieve.batch import F64, U64, Batch
from streamsieve.kernels.hashing import hash_names, key_words
from streamsieve.kernels.losses import LOSS_CODES, loss_of
from streamsieve.selection import Selection


class Quality(NamedTuple):
    """Of predictions of samples that were not learnt, in the mean by weight; no accuracy where labels are numbers."""

    samples: int
    accuracy: float | None
    loss: float | None


def margins_of(batch: Batch, selection: Selection, hash_key: bytes) -> F64:
    """The selected weights times the values of each sample, plus the intercept."""
    weights = np.zeros(len(batch.hashes))
    if selection.names:
        hashes = _hashes(selection.names, hash_key)
        order = np.argsort(hashes)
        places = np.minimum(np.searchsorted(hashes[order], batch.hashes), len(order) - 1)
        found = hashes[order][places] == batch.hashes
        weights[found] = selection.weights[order][places[found]]
    sample_of_entry = np.repeat(np.arange(batch.sample_count), np.diff(batch.samples))
    sums = np.bincount(sample_of_entry, weights=weights * batch.values, minlength=batch.sample_count)
    return sums.astype(np.float64) + selection.intercept


def quality_of(batch: Batch, selection: Selection, hash_key: bytes, loss: str, binary: bool) -> Quality:
    """How well the selection predicts these samples."""
    margins = margins_of(batch, selection, hash_key)
    if not len(margins):
        return Quality(0, None, None)
    right = np.where(margins > 0, 1.0, -1.0) == batch.labels
    losses = [loss_of(LOSS_CODES[loss], label, margin) for label, margin in zip(batch.labels, margins, strict=True)]
    accuracy = float(np.average(right, weights=batch.weights)) if binary else None
    return Quality(batch.sample_count, accuracy, float(np.average(losses, weights=batch.weights)))


def _hashes(names: list[str], hash_key: bytes) -> U64:
    encoded = [name.encode() for name in names]
    lengths = np.array([len(name) for name in encoded], np.int32)
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    return hash_names(np.frombuffer(bytearray(b"".join(encoded)), np.uint8), starts, lengths, key_words(hash_key))
