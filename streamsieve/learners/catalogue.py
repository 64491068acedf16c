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


# What labels a loss takes: binary, real or class.
LABELS = {"squared_hinge": "binary", "logistic": "binary", "hinge": "binary", "squared": "real", "softmax": "class"}

MOST_WHOLE = 2**31 - 1

RATE = Param("eta", 0.5, strictly=True)
DELTA = Param("delta", 0.01, strictly=True)
SHRINKAGE = Param("lambda", 0.0)
SMALL_RATE = Param("eta", 0.01, strictly=True)

SPARSITY = Param("l1", 0.001)
SKETCH = (
    Param("decay", None), Param("width", 2.0**18, most=2.0**28, shape="power of two"),
    Param("depth", 3.0, least=1.0, most=31.0, shape="odd"),
    Param("max_classes", 32.0, least=1.0, most=1024.0, shape="whole"),
)  # fmt: skip


def batch_of(samples: int) -> Param:
    """Samples between two prunings."""
    return Param("batch", samples, least=1, most=MOST_WHOLE, shape="whole")


SAMPLE = "streamsieve.learners.sample_stream"

CATALOGUE: dict[str, Entry] = {
    entry.name: entry
    for entry in (
        Entry(
            "b-arda", "sample", ("squared_hinge", "logistic"), (RATE, DELTA, SHRINKAGE),
            f"{SAMPLE}.b_arda:BArda", "Zhai et al., Online Feature Selection by Adaptive Sub-gradient Methods",
            forgets=True,
        ),
        Entry(
            "l1-arda", "sample", ("squared_hinge", "logistic"), (RATE, DELTA, SPARSITY),
            f"{SAMPLE}.l1_arda:L1Arda", "Duchi, Hazan and Singer, Adaptive Subgradient Methods (dual averaging)",
            forgets=True,
        ),
        Entry(
            "ada-fobos", "sample", ("squared_hinge", "logistic"), (RATE, DELTA, SPARSITY),
            f"{SAMPLE}.ada_fobos:AdaFobos", "Duchi, Hazan and Singer, Adaptive Subgradient Methods (forward-backward)",
            sums=False,
        ),
        Entry(
            "b-amd", "sample", ("squared_hinge", "logistic"), (RATE, DELTA, SHRINKAGE),
            f"{SAMPLE}.b_amd:BAmd", "Zhai et al., Online Feature Selection by Adaptive Sub-gradient Methods",
            sums=False,
        ),
        Entry(
            "ofs", "sample", ("hinge",), (Param("eta", 0.2, strictly=True), Param("lambda", 0.001)),
            f"{SAMPLE}.ofs:Ofs", "Wang et al., Online Feature Selection and Its Applications", sums=False,
        ),
        Entry(
            "sofs", "sample", ("hinge",), (Param("gamma", 10.0, strictly=True),),
            f"{SAMPLE}.sofs:Sofs",
            "Wu et al., Large-Scale Online Feature Selection for Ultra-High Dimensional Sparse Data", sums=False,
        ),
        Entry(
            "iht", "sample", ("logistic", "squared"), (SMALL_RATE, batch_of(1)),
            f"{SAMPLE}.iht:Iht", "Aghazadeh et al., MISSION (the method it compares with)", sums=False,
        ),
        Entry(
            "batch-iht", "sample", ("logistic", "squared"), (SMALL_RATE, batch_of(1000)),
            f"{SAMPLE}.iht:Iht", "Aghazadeh et al., MISSION (the method it compares with)", sums=False,
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
