"""What a notebook may hand over as y and sample_weight."""

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from streamsieve.batch import F64
from streamsieve.in_process.habits import column_vector_warning
from streamsieve.in_process.tables import check_numbers, numbers_of

Labels = NDArray[Any]


def column_of(given: Any, rows: int, estimator: str) -> Labels:
    """y as one label a row. Raises ValueError."""
    if given is None:
        raise ValueError(f"{estimator} requires y to be passed, but the target y is None")
    labels: Labels = np.asarray(given)
    if labels.ndim == 2 and labels.shape[1] == 1:
        message = "A column-vector y was passed when a 1d array was expected. Pass one label a row."
        warnings.warn(message, column_vector_warning(), stacklevel=4)
        labels = labels.ravel()
    if labels.ndim != 1:
        raise ValueError(f"y should be a 1d array, got an array of shape {labels.shape} instead.")
    check_lengths(rows, len(labels))
    if labels.dtype.kind == "f":
        check_numbers(labels.astype(np.float64), "y")
    return labels


def classes_of(labels: Labels, given: Sequence[Any] | None = None) -> Labels:
    """The two classes, in order: the second is the positive one. Raises ValueError."""
    if labels.dtype.kind == "f" and np.any(labels != np.floor(labels)):
        raise ValueError("Unknown label type: continuous. Two classes are needed, or the loss `squared` for numbers.")
    classes = np.unique(labels if given is None else np.asarray(given))
    if len(classes) > 2:
        raise ValueError(f"Only binary classification is supported. There are {len(classes)} classes in y.")
    if len(classes) < 2:
        raise ValueError(f"y holds one class only, {classes[0]!r}: two classes are needed; partial_fit takes `classes`")
    return classes


def coded(labels: Labels, classes: Labels) -> F64:
    """-1.0 for the first class, +1.0 for the second. Raises ValueError.

    >>> coded(np.array(["spam", "ham"]), np.array(["ham", "spam"]))
    array([ 1., -1.])
    """
    strange = np.setdiff1d(labels, classes)
    if len(strange):
        raise ValueError(f"y holds {strange[0]!r}, which is none of the classes {classes.tolist()}")
    return np.where(labels == classes[1], 1.0, -1.0)


def weights_of(given: Any, rows: int) -> F64:
    """sample_weight, a number for all or one a row; None is 1. Raises ValueError."""
    weights = np.ones(rows) if given is None else numbers_of(given, "sample_weight")
    if weights.ndim == 0:
        weights = np.full(rows, float(weights))
    if weights.ndim != 1:
        raise ValueError(f"Sample weights must be 1D array or scalar, got {weights.ndim}D array.")
    check_lengths(rows, len(weights))
    check_numbers(weights, "sample_weight")
    if (weights < 0).any():
        raise ValueError("Negative values in sample_weight")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row: there is nothing to learn")
    return weights


def check_lengths(rows: int, labels: int) -> None:
    """As many of one as of the other. Raises ValueError."""
    if rows != labels:
        raise ValueError(f"Found input variables with inconsistent numbers of samples: [{rows}, {labels}]")
