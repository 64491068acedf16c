"""Sparse matrices as batches, without going through text: each row a record of one sample."""

import numpy as np
from scipy.sparse import csr_matrix

from streamsieve.batch import F64, Batch
from streamsieve.kernels.hashing import hash_names, key_words


def batch_of_rows(matrix: csr_matrix, labels: F64, key: bytes) -> Batch:
    """Columns are named by their numbers."""
    names = [str(column).encode() for column in range(matrix.shape[1])]
    lengths = np.array([len(name) for name in names], np.int32)
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    text = np.frombuffer(bytearray().join(names), np.uint8)
    hashes, columns = hash_names(text, starts, lengths, key_words(key)), matrix.indices
    return Batch(
        records=np.arange(matrix.shape[0] + 1),
        samples=matrix.indptr.astype(np.int64),
        hashes=hashes[columns],
        values=matrix.data.astype(np.float64),
        labels=np.asarray(labels, np.float64),
        weights=np.ones(matrix.shape[0]),
        text=text,
        name_starts=starts[columns],
        name_lengths=lengths[columns],
    )
