"""Seeded streams for whole-system tests, and the dense twin's word on them."""

import json
from collections.abc import Sequence

import numpy as np

from tests.twins.b_arda import NaiveBArda

POISON: tuple[bytes | None, ...] = (
    b"{",  # bad syntax
    b'{"x": {"a": 1}}',  # no label
    b'{"y": 7, "x": {"a": 1}}',  # a label that no binary loss takes
    b'{"y": 1, "x": {"a": NaN}}',
    b'{"y": 1, "x": {"a": Infinity}}',
    b'{"y": 1, "x": {"a": 1e300}}',  # over the limit
    b'{"y": 1, "x": {"' + b"n" * 300 + b'": 1}}',  # a name that is too long
    b'{"y": 1, "x": {"\xff\xfe": 1}}',  # a name that is not UTF-8
    b'{"y": 1, "f": ["a", "b"], "v": [1]}',  # lengths differ
    None,  # no value at all
)


def sparse_stream(count: int, seed: int, names: int = 400, width: int = 12) -> list[tuple[float, dict[str, float]]]:
    """Labels follow 20 telling names, with some noise."""
    random = np.random.default_rng(seed)
    truth = np.zeros(names)
    truth[:20] = random.choice([-1.0, 1.0], 20) * random.uniform(0.5, 2.0, 20)
    made = []
    for _ in range(count):
        rows = random.choice(names, width, replace=False)
        values = random.choice([0.5, 1.0, 2.0], width)
        y = 1.0 if truth[rows] @ values + 0.1 * random.standard_normal() > 0 else -1.0
        made.append((y, {f"w{row}": float(value) for row, value in zip(rows, values, strict=True)}))
    return made


def as_json(stream: Sequence[tuple[float, dict[str, float]]]) -> list[bytes]:
    return [json.dumps({"y": y, "x": x}).encode() for y, x in stream]


def poisoned(values: Sequence[bytes], every: int) -> list[bytes | None]:
    """One poison record before each `every`-th, all kinds in turn."""
    made: list[bytes | None] = []
    for at, value in enumerate(values):
        if at % every == 0:
            made.append(POISON[at // every % len(POISON)])
        made.append(value)
    return made


def twin_selection(
    stream: Sequence[tuple[float, dict[str, float]]], budget: int, params: dict[str, float]
) -> list[tuple[str, float, float]]:
    twin = NaiveBArda(budget, params["eta"], params["delta"], params["lambda"])
    for y, x in stream:
        twin.learn(y, x)
    return twin.selection()
