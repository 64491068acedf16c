"""Rows of a CSV table, each one sample.

The header's names are the feature names. A first row of numbers alone is data, not a header; then the features are
f0, f1, ... and the label is the last column. With a header the label is the column `y`, else `label`, else the last.
A cell that spells a number is the value of its column's feature; any other is the feature ``column=cell`` with value 1;
an empty one is absent. NaN and infinity are refused as everywhere.
"""

from collections.abc import Sequence
from typing import NamedTuple

from streamsieve.batch import Reason
from streamsieve.decode.refusal import Refusal
from streamsieve.decode.samples import Rules, Sample, number
from streamsieve.errors import BadFile

Cells = Sequence[str]


class Table(NamedTuple):
    """What the columns are called, and which of them is the label."""

    names: list[str]
    label: int

    def parse(self, cells: Cells, rules: Rules) -> list[Sample]:
        """The row's one sample; raises Refusal."""
        if len(cells) != len(self.names):
            raise Refusal(Reason.LENGTH, f"{len(cells)} cells, {len(self.names)} columns")
        label = rules.label_text(cells[self.label].strip())
        names: list[str] = []
        values: list[float] = []
        for column, cell in enumerate(cells):
            text = cell.strip()
            if text and column != self.label:
                name, value = _feature(self.names[column], text)
                names.append(name)
                values.append(value)
        return [rules.sample(names, values, label, 1.0)]


def _feature(column: str, text: str) -> tuple[str, float]:
    value = _value(text)
    return (f"{column}={text}", 1.0) if value is None else (column, value)


def _value(text: str) -> float | None:
    """None if it is no number."""
    try:
        return number(text)
    except Refusal as refusal:
        if refusal.reason is not Reason.SYNTAX:
            raise
        return None


def has_header(first: Cells) -> bool:
    """Is there anything but numbers in the first row?"""
    return any(_spells_no_number(cell.strip()) for cell in first)


def _spells_no_number(text: str) -> bool:
    try:
        return bool(text) and _value(text) is None
    except Refusal:  # nan, inf: data, though bad
        return False


def table_of(first: Cells) -> Table:
    """The table that a first row announces; raises BadFile.

    >>> table_of(["y", "age", "city"])
    Table(names=['y', 'age', 'city'], label=0)
    >>> table_of(["0.5", "3", "1"])
    Table(names=['f0', 'f1', 'f2'], label=2)
    """
    if not has_header(first):
        return Table([f"f{column}" for column in range(len(first))], len(first) - 1)
    names = [cell.strip() for cell in first]
    if "" in names:
        raise BadFile(f"column {names.index('') + 1} of the header has no name")
    for name in ("y", "label"):
        if name in names:
            return Table(names, names.index(name))
    return Table(names, len(names) - 1)
