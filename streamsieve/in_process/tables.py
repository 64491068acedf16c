"""What a notebook may hand over as X: a dense or sparse matrix, a data frame, or samples with names of their own.

Libraries are told by what their objects have (`tocsr`, `columns`, `__array__`), so none of them need be installed.
A value of 0 says the same as none at all, whatever the kind of table, so that all kinds agree on what was seen first.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from streamsieve.batch import F64, I64
from streamsieve.decode.matrix_rows import CSR_PARTS, from_csr, from_dense
from streamsieve.errors import BadFile
from streamsieve.in_process.columns import Csr

LARGEST = 1e100  # of |value|; its square is still finite


class Dense(NamedTuple):
    """A matrix in full."""

    values: F64
    names: list[str] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, columns."""
        return self.values.shape[0], self.values.shape[1]

    @property
    def row_size(self) -> int:
        """Entries a row, about."""
        return self.shape[1]

    def rows(self, chosen: I64) -> Csr:
        """These rows, in this order, without zeros."""
        data, indices, indptr, _ = from_dense(self.values[chosen], most=0)
        return Csr(data, indices, indptr)

    def margins(self, weights: F64) -> F64:
        """X w."""
        telling = np.flatnonzero(weights)
        margins: F64 = self.values[:, telling] @ weights[telling]
        return margins


class Sparse(NamedTuple):
    """A matrix by its entries, zeros left out."""

    entries: Csr
    width: int
    names: list[str] | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Rows, columns."""
        return len(self.entries.indptr) - 1, self.width

    @property
    def row_size(self) -> int:
        """Entries a row, about."""
        return len(self.entries.data) // self.shape[0]

    def rows(self, chosen: I64) -> Csr:
        """These rows, in this order."""
        starts, ends = self.entries.indptr[chosen], self.entries.indptr[chosen + 1]
        indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(ends - starts)])
        places = np.repeat(starts - indptr[:-1], ends - starts) + np.arange(indptr[-1])
        return Csr(self.entries.data[places], self.entries.indices[places], indptr)

    def margins(self, weights: F64) -> F64:
        """X w."""
        row_of_entry = np.repeat(np.arange(self.shape[0]), np.diff(self.entries.indptr))
        parts = self.entries.data * weights[self.entries.indices]
        return np.bincount(row_of_entry, weights=parts, minlength=self.shape[0]).astype(np.float64)


class NamedRow(NamedTuple):
    """One sample: names, and a value each."""

    names: list[str]
    values: list[float]


class Named(NamedTuple):
    """Samples with names of their own: there are no columns."""

    rows: list[NamedRow]

    def margins(self, weights: Mapping[str, float]) -> F64:
        """The sum of weight times value, sample by sample."""
        sums = (sum(weights.get(name, 0.0) * value for name, value in zip(*row, strict=True)) for row in self.rows)
        return np.fromiter(sums, np.float64, len(self.rows))


Matrix: TypeAlias = Dense | Sparse
Table: TypeAlias = Matrix | Named


def table_of(given: Any) -> Table:
    """Whatever was given, checked. Raises ValueError or TypeError, in scikit-learn's words where it has some."""
    if hasattr(given, "tocsr"):
        return _sparse(given.tocsr())
    if hasattr(given, "indptr"):
        return _sparse(given)
    if not hasattr(given, "columns"):
        samples = _samples(given)
        if samples is not None:
            return Named([named_row(sample, place) for place, sample in enumerate(samples)])
    return _dense(given)


def named_row(sample: Any, place: int) -> NamedRow:
    """A sample's names and values: {name: number}, {name: text} (a feature `name=text` of value 1), or [name, ...].

    >>> named_row({"length": 3, "sender": "bank", "links": 0}, 0)
    NamedRow(names=['length', 'sender=bank'], values=[3.0, 1.0])
    >>> named_row(["free", "money"], 0)
    NamedRow(names=['free', 'money'], values=[1.0, 1.0])
    """
    pairs = sample.items() if isinstance(sample, Mapping) else ((name, 1.0) for name in sample)
    entries = [_entry(name, value, place) for name, value in pairs]
    entries = [entry for entry in entries if entry[1] != 0]
    return NamedRow([name for name, _ in entries], [value for _, value in entries])


def _entry(name: Any, value: Any, place: int) -> tuple[str, float]:
    if not isinstance(name, str):
        raise TypeError(f"row {place}: a feature's name must be a string, not {name!r}")
    if isinstance(value, str):
        return f"{name}={value}", 1.0
    try:
        return name, float(value)
    except (TypeError, ValueError):
        raise TypeError(f"row {place}: the value of {name!r} must be a number or a string, not {value!r}") from None


def _samples(given: Any) -> Sequence[Any] | None:
    """The samples, if they have names of their own; None if it is a matrix."""
    if hasattr(given, "__array__"):
        if getattr(given, "ndim", 0) != 1 or getattr(given, "dtype", None) != np.dtype(object):
            return None
        given = list(given)
    if isinstance(given, Iterable) and not isinstance(given, (Sequence, Mapping)):
        given = list(given)
    return given if isinstance(given, Sequence) and _have_names(given) else None


def _have_names(samples: Sequence[Any]) -> bool:
    """The first sample that holds anything decides."""
    for sample in samples:
        if isinstance(sample, Mapping):
            return True
        if isinstance(sample, str) or not isinstance(sample, Iterable):
            return False
        for item in sample:
            return isinstance(item, str)
    return False


def _sparse(given: Any) -> Sparse:
    try:
        parts = {part: np.asarray(getattr(given, part)) for part in CSR_PARTS}
        if parts["data"].dtype.kind == "c":
            raise ValueError("Complex data not supported")
        data, indices, indptr, width = from_csr(parts)
    except BadFile as error:
        raise ValueError(str(error)) from None
    _check_shape(len(indptr) - 1, width)
    check_numbers(data, "X")
    nonzero = data != 0
    if not nonzero.all():
        kept_before = np.concatenate([np.zeros(1, np.int64), np.cumsum(nonzero)])
        data, indices, indptr = data[nonzero], indices[nonzero], kept_before[indptr]
    return Sparse(Csr(data, indices, indptr), width)


def _dense(given: Any) -> Dense:
    values = numbers_of(given, "X")
    if values.ndim != 2:
        hint = "Reshape your data: one row is one sample." if values.ndim < 2 else ""
        raise ValueError(f"Expected 2D array, got {values.ndim}D array instead. {hint}".rstrip())
    _check_shape(*values.shape)
    check_numbers(values, "X")
    return Dense(values, _names(getattr(given, "columns", None)))


def _names(columns: Iterable[Any] | None) -> list[str] | None:
    """A data frame's names; only names that are all text count, as in scikit-learn."""
    names = [] if columns is None else list(columns)
    texts = [isinstance(name, str) for name in names]
    if any(texts) and not all(texts):
        raise TypeError("Feature names are only supported if all input features have string names")
    return names if names and all(texts) else None


def numbers_of(given: Any, name: str) -> F64:
    """An array of floats. Raises ValueError or TypeError."""
    array: NDArray[Any] = np.asarray(given)
    if array.dtype.kind == "c":
        raise ValueError("Complex data not supported")
    try:
        return array.astype(np.float64)
    except TypeError as error:
        raise TypeError(f"{name}: {error}; argument must be a string or a number") from None


def check_numbers(values: F64, name: str) -> None:
    """Finite, and small enough to be squared. Raises ValueError."""
    if not len(values) or np.abs(values).max(initial=0.0) <= LARGEST:  # a NaN fails this
        return
    if np.isnan(values).any():
        raise ValueError(f"Input {name} contains NaN.")
    if np.isinf(values).any():
        raise ValueError(f"Input {name} contains infinity or a value too large for float64.")
    raise ValueError(f"Input {name} contains a value beyond +-{LARGEST:g}.")


def _check_shape(rows: int, columns: int) -> None:
    for count, unit in ((rows, "sample"), (columns, "feature")):
        if count == 0:
            shape = f"shape=({rows}, {columns})"
            raise ValueError(f"Found array with 0 {unit}(s) ({shape}) while a minimum of 1 is required.")
