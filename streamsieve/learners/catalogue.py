"""The catalogue: one line an algorithm. Specs, command line, docs and checks read this table.

Learner classes are named, not imported: a service that only checks specs need not load a compiler.
"""

import math
import sys
from collections.abc import Callable
from importlib import import_module
from typing import Any, NamedTuple

from streamsieve.errors import BadSpec

SHAPES: dict[str, Callable[[float], bool]] = {
    "number": lambda number: True,
    "whole": lambda number: number == int(number),
    "odd": lambda number: number % 2 == 1,
    "power of two": lambda number: number >= 1 and number == int(number) and int(number).bit_count() == 1,
}


class Param(NamedTuple):
    """A number that a user may set: its default and what it must satisfy."""

    name: str
    default: float | None  # None: left out unless given, the learner then chooses
    least: float = 0.0
    strictly: bool = False  # must be > least, not just >=
    most: float = math.inf
    shape: str = "number"  # or whole, odd, power of two

    def checked(self, value: object) -> float:
        """The value as a float; raises BadSpec that names it."""
        field = f"params.{self.name}"
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise BadSpec(field, f"must be a number, not {value!r}")
        number = float(value) if abs(value) <= sys.float_info.max else math.inf  # float() fails on a huge int
        if not math.isfinite(number):
            raise BadSpec(field, "must be finite")
        if number < self.least or (self.strictly and number == self.least):
            raise BadSpec(field, f"must be {'>' if self.strictly else '>='} {self.least:g}, not {number:g}")
        if number > self.most or not SHAPES[self.shape](number):
            raise BadSpec(field, f"must be {self._wanted()}, not {number:g}")
        return number

    def _wanted(self) -> str:
        article = {"number": "a number", "whole": "a whole number", "odd": "an odd number"}.get(
            self.shape, "a " + self.shape
        )
        return article if self.most == math.inf else f"{article} of at most {self.most:.0f}"


class Entry(NamedTuple):
    """One algorithm."""

    name: str
    kind: str  # sample, feature or window
    losses: tuple[str, ...]  # the first is the default
    params: tuple[Param, ...]
    learner: str  # module:class
    paper: str
    forgets: bool = False  # does half_life apply?
    sums: bool = True  # the model is the sum of the shards, so that each may predict with all; else shards are averaged
    keyed: bool = False  # the hash key shapes the state and, a little, the result

    def learner_class(self) -> Any:
        """Import the learner; kernels come along."""
        module, _, name = self.learner.partition(":")
        return getattr(import_module(module), name)


RATE = Param("eta", 0.5, strictly=True)
DELTA = Param("delta", 0.01, strictly=True)
SHRINKAGE = Param("lambda", 0.0)
SKETCH = (
    Param("decay", None), Param("width", 2.0**18, most=2.0**28, shape="power of two"),
    Param("depth", 3.0, least=1.0, most=31.0, shape="odd"),
    Param("max_classes", 32.0, least=1.0, most=1024.0, shape="whole"),
)  # fmt: skip

# What a loss takes as labels.
LABELS = {"squared_hinge": "binary", "logistic": "binary", "hinge": "binary", "squared": "real", "softmax": "class"}

SAMPLE = "streamsieve.learners.sample_stream"

CATALOGUE: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            "b-arda", "sample", ("squared_hinge", "logistic"), (RATE, DELTA, SHRINKAGE),
            f"{SAMPLE}.b_arda:BArda", "Zhai et al., Online Feature Selection by Adaptive Sub-gradient Methods",
        ),
        Entry(
            "mission", "sample", ("logistic", "squared", "softmax"), (RATE, *SKETCH),
            f"{SAMPLE}.mission:Mission", "Aghazadeh et al., Ultra Large-Scale Feature Selection using Count-Sketches",
            keyed=True,
        ),
    )
}  # fmt: skip


def entry_of(algorithm: str) -> Entry:
    """The line of an algorithm; raises BadSpec that lists the known ones."""
    if algorithm not in CATALOGUE:
        raise BadSpec("algorithm", f"unknown algorithm {algorithm!r}; known: {', '.join(CATALOGUE)}")
    return CATALOGUE[algorithm]
