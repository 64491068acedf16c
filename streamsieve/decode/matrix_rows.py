"""Rows of a matrix with labels, each one sample: what an .npz archive holds.

`X` is dense, or given by the CSR parts `data`, `indices`, `indptr` and `shape` as scipy.sparse.save_npz names them; `y`
holds the labels; `names`, one a column, is optional, else the features are f0, f1, ... A dense row has every column,
zeros too, so that names are seen in column order; only where that is more than a sample may have are zeros left out.
"""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsieve.batch import F64, I64
from streamsieve.decode.samples import Rules, Sample
from streamsieve.errors import BadFile

CSR_PARTS = ("data", "indices", "indptr", "shape")
Array = NDArray[Any]


class Row(NamedTuple):
    """The entries of one row, and its label."""

    names: list[str]
    values: list[float]
    label: float


class Matrix(NamedTuple):
    """A matrix as CSR parts; `names` one a column."""

    data: F64
    indices: I64
    indptr: I64
    names: list[str]
    labels: F64

    def rows(self) -> Iterator[Row]:
        """One by one."""
        for begin, end, label in zip(self.indptr[:-1], self.indptr[1:], self.labels, strict=True):
            columns = self.indices[begin:end].tolist()
            yield Row([self.names[column] for column in columns], self.data[begin:end].tolist(), float(label))


def parse(row: Row, rules: Rules) -> list[Sample]:
    """The row's one sample; raises Refusal."""
    return [rules.sample(row.names, row.values, rules.label(row.label), 1.0)]


def matrix_of(arrays: Mapping[str, Array], most: int) -> Matrix:
    """The matrix in an archive; `most` is how many features a sample may have. Raises BadFile."""
    if "y" not in arrays:
        raise BadFile("no array y")
    labels = _numbers(arrays["y"], "y").ravel()
    if "X" in arrays:
        data, indices, indptr, columns = from_dense(_numbers(arrays["X"], "X"), most)
    elif all(part in arrays for part in CSR_PARTS):
        data, indices, indptr, columns = from_csr(arrays)
    else:
        raise BadFile(f"neither an array X nor all of {', '.join(CSR_PARTS)}")
    if len(indptr) - 1 != len(labels):
        raise BadFile(f"{len(indptr) - 1} rows, but {len(labels)} labels in y")
    return Matrix(data, indices, indptr, _names(arrays.get("names"), columns), labels)


def _numbers(array: Array, name: str) -> F64:
    if array.dtype.kind not in "biuf":
        raise BadFile(f"{name} holds no real numbers but {array.dtype}")
    return array.astype(np.float64)


def from_dense(dense: F64, most: int) -> tuple[F64, I64, I64, int]:
    """data, indices, indptr and the number of columns; with more than `most` of them without the zeros."""
    if dense.ndim != 2:
        raise BadFile(f"X has {dense.ndim} dimensions, not 2")
    kept = np.ones(dense.shape, np.bool_) if dense.shape[1] <= most else dense != 0
    ends = np.cumsum(kept.sum(axis=1), dtype=np.int64)
    return dense[kept], np.nonzero(kept)[1].astype(np.int64), np.concatenate([[0], ends]), dense.shape[1]


def from_csr(arrays: Mapping[str, Array]) -> tuple[F64, I64, I64, int]:
    """data, indices, indptr and the number of columns, checked."""
    if "format" in arrays and arrays["format"].item() not in ("csr", b"csr"):
        raise BadFile("the sparse matrix is not in CSR format")
    data = _numbers(arrays["data"], "data").ravel()
    indices, indptr, shape = (_whole(arrays[part], part) for part in CSR_PARTS[1:])
    if len(shape) != 2 or len(indptr) != shape[0] + 1 or len(indices) != len(data):
        raise BadFile("data, indices, indptr and shape do not fit each other")
    if indptr[0] != 0 or indptr[-1] != len(data) or np.any(np.diff(indptr) < 0):
        raise BadFile("indptr does not rise from 0 to the number of entries")
    if len(indices) and not (indices.min() >= 0 and indices.max() < shape[1]):
        raise BadFile("an index is outside of the matrix")
    return data, indices, indptr, int(shape[1])


def _whole(array: Array, name: str) -> I64:
    if array.dtype.kind not in "iu":
        raise BadFile(f"{name} holds no whole numbers but {array.dtype}")
    return array.astype(np.int64).ravel()


def _names(given: Array | None, columns: int) -> list[str]:
    if given is None:
        return [f"f{column}" for column in range(columns)]
    if given.dtype.kind != "U":
        raise BadFile(f"names holds no text but {given.dtype}")
    if given.size != columns:
        raise BadFile(f"{given.size} names, {columns} columns")
    return [str(name) for name in given.ravel()]
