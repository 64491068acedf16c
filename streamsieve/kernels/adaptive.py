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
    """What the user chose: rate = eta, drag = lambda eta, budget = B; truncates: keeps the B best, else l1 decides."""

    rate: float
    delta: float
    drag: float
    l1: float
    truncates: bool
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
def sparse_weight(gradient: float, curvature: float, count: float, rule: Rule) -> float:
    """l1-ARDA's w = -sign(G) (eta t / H) max(0, |G| / t - l1)."""
    excess = abs(gradient) / count - rule.l1 if count > 0.0 else 0.0
    if not excess > 0.0:
        return 0.0
    size = rule.rate * count / curvature * excess
    return -size if gradient > 0.0 else size


@lean_kernel
def sum_at(own: F64, others: F64, row: int, column: int) -> float:
    """This shard's sum plus its peers'; without peers `others` has no rows."""
    if len(others) > 0:
        return float(own[row, column] + others[row, column])
    return float(own[row, column])
