"""What an estimator is after fitting: a model, the columns it knows, and its two classes."""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from streamsieve.batch import F64, I64, Batch
from streamsieve.in_process.columns import Columns, columns_of
from streamsieve.in_process.habits import check_names
from streamsieve.in_process.model import Model
from streamsieve.in_process.tables import Matrix, Named, Table, numbers_of
from streamsieve.in_process.targets import Labels, classes_of, coded, column_of, weights_of

MOST_CELLS = 2_000_000  # of a matrix, a batch; batches may be cut anywhere


class Lesson(NamedTuple):
    """What one call hands over: a table, a label and a weight for each row, and the rows that count."""

    table: Table
    labels: F64
    weights: F64
    rows: I64


@dataclass
class Fitted:
    """`owner` is what errors call it; `columns` is None where samples have names of their own."""

    owner: str
    model: Model
    columns: Columns | None
    named: bool  # the columns' names are the data's own, not x0, x1, ...
    classes: Labels | None = None

    def lesson(self, table: Table, y: Any, classes: Sequence[Any] | None, sample_weight: Any) -> Lesson:
        """Everything checked before anything is learnt; a row of weight 0 is left out. Raises ValueError."""
        self._check_kind(table)
        count = len(table.rows) if isinstance(table, Named) else table.shape[0]
        labels = column_of(y, count, self.owner)
        weights = weights_of(sample_weight, count)
        rows = np.flatnonzero(weights)
        return Lesson(table, self._numbers(labels, rows, classes), weights, rows)

    def learn(self, lesson: Lesson, order: I64) -> None:
        """The rows in this order. Raises ValueError."""
        for batch, rows in self._batches(lesson, order):
            self.model.learn(batch, rows)

    def margins(self, table: Table) -> F64:
        """The selected weights times the values, plus the intercept. Raises ValueError."""
        intercept = self.model.selection.intercept
        if isinstance(table, Named):
            return table.margins(self.model.weights) + intercept
        return table.margins(self.columns_of(table).weights(self.model.weights)) + intercept

    def columns_of(self, table: Matrix) -> Columns:
        """The columns, if the table has the same; in scikit-learn's words if it has not. Raises ValueError."""
        if self.columns is None:
            raise ValueError(f"{self.owner} was fitted on samples with names of their own; X must be such samples too")
        check_names(table.names, self.columns.names if self.named else None)
        if bool(table.names) != self.named:
            has, with_or_without = ("has", "without") if table.names else ("does not have valid", "with")
            message = f"X {has} feature names, but {self.owner} was fitted {with_or_without} feature names"
            warnings.warn(message, stacklevel=5)
        width, known = table.shape[1], len(self.columns.names)
        if width != known:
            raise ValueError(f"X has {width} features, but {self.owner} is expecting {known} features as input")
        return self.columns

    def support(self) -> I64:
        """The selected columns, in their order. Raises ValueError."""
        if self.columns is None:
            raise ValueError("samples with names of their own have no columns; use get_feature_names_out")
        return np.sort(np.array([self.columns.places[name] for name in self.model.weights], np.int64))

    def _check_kind(self, table: Table) -> None:
        if not isinstance(table, Named):
            self.columns_of(table)
        elif self.columns is not None:
            raise ValueError(f"{self.owner} was fitted on a table with columns; X must be such a table too")

    def _numbers(self, labels: Labels, rows: I64, classes: Sequence[Any] | None) -> F64:
        """The labels as the learner takes them. The first ones tell the classes."""
        if self.model.real:
            return numbers_of(labels, "y")
        if self.classes is None:
            self.classes = classes_of(labels[rows], classes)
        return coded(labels, self.classes)

    def _batches(self, lesson: Lesson, order: I64) -> Iterator[tuple[Batch, I64]]:
        table, labels, weights = lesson.table, lesson.labels[order], lesson.weights[order]
        if isinstance(table, Named):
            rows = [table.rows[row] for row in order]
            yield self.model.named_batch(rows, labels.tolist(), weights.tolist()), order
            return
        columns = self.columns_of(table)
        step = max(1, MOST_CELLS // max(1, table.row_size))
        for start in range(0, len(order), step):
            cut = slice(start, start + step)
            yield columns.batch(table.rows(order[cut]), labels[cut], weights[cut]), order[cut]


def fitted_to(table: Table, model: Model, owner: str) -> Fitted:
    """Nothing learnt yet, but the columns are known. Raises ValueError."""
    if isinstance(table, Named):
        return Fitted(owner, model, None, named=False)
    names = table.names or [f"x{place}" for place in range(table.shape[1])]
    return Fitted(owner, model, columns_of(names, model.rules, model.hash_key), named=bool(table.names))
