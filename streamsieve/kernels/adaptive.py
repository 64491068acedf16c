"""Adaptive dual averaging in closed form: what a feature's sums say of it, at any round.

With G = sum of gradients, s2 = sum of squared gradients, H = delta + sqrt(s2), c = lambda eta:
weight z = -eta G / (c t + H), score = H z^2. Names here: pull = -eta G, curvature = H, drag = c, damping = c t.

1 / sqrt(score) = (c t + H) / (|pull| sqrt(H)) is linear in t for an untouched feature. A line that is below
another at both ends of a stretch of rounds is below it all along; everything in `band` stands on that.
"""

import math
from typing import NamedTuple

from streamsieve.batch import F64
from streamsieve.kernels.compiler import lean_kernel


class Rule(NamedTuple):
    """What the user chose: rate = eta, drag = lambda eta, budget = B."""

    rate: float
    delta: float
    drag: float
    budget: int
    loss: int
    intercept: bool
    max_names: int


@lean_kernel
def curvature_of(square: float, delta: float) -> float:
    """H of s2."""
    return delta + math.sqrt(square)


@lean_kernel
def score_of(pull: float, curvature: float, damping: float) -> float:
    """H z^2."""
    weight = pull / (damping + curvature)
    return curvature * weight * weight


@lean_kernel
def sum_at(own: F64, others: F64, row: int, column: int) -> float:
    """This shard's sum plus its peers'; without peers `others` has no rows."""
    if len(others) > 0:
        return float(own[row, column] + others[row, column])
    return float(own[row, column])
