"""Adaptive dual averaging in closed form: what a feature's sums say of it, at any round.

With G = sum of gradients, s2 = sum of squared gradients, H = delta + sqrt(s2), c = lambda eta:
weight z = -eta G / (c t + H), score = H z^2. Names here: pull = -eta G, root = sqrt(s2), curvature = H, drag = c,
damping = c t.

**Forgetting.** Every round G and s2 are multiplied by rho = 2^(-1 / half_life) before the round's own gradient is
added, and t is the sum of rho^age over all rounds. Nothing is swept: sums are kept in a scale that grows instead, r^2 =
rho^-(round - base), so that an untouched row's numbers stand still. With -eta G = pull / r^2 and sqrt(s2) = root / r,

    z = pull / (r c t + r delta + root) / r,    score = (r delta + root) (r z)^2 / r^3,

the same formulas with r c t for c t and r delta for delta, but for a power of r that all rows share. After `period`
rounds all sums are scaled down and `base` moves on.

**What is sure of the future.** An untouched row keeps pull and root; its score is, but for that power of r, pull^2 h /
(e + root)^2 with h = r delta + root and e = r c t + r delta, both of which only grow. For two rows the quotient of
their h, and that of their e + root, move towards 1 and never back. So an order that holds for all four pairs of (first
or last h, first or last e) holds at every round between. Two of them, the first and the last round, are enough without
forgetting, where h stands still and 1 / sqrt(score) is linear in t, and without drag, where e + root = h and 1 / score
is linear in r; without both, scores don't move at all. Everything in `band` stands on that.
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
    fade: float  # ln 2 / half_life; 0: nothing is forgotten
    period: int  # rounds after which the scale of the sums begins anew; 0: never


class Clock(NamedTuple):
    """Tells the moment of a round. The sums' scale begins at round `base`, ends at `last`; heard is t of the peers."""

    drag: float
    delta: float
    fade: float
    base: int
    last: int
    heard: float


class Moment(NamedTuple):
    """What of a score changes with the round, in the scale of the sums: r c t, r delta, and e, which is both."""

    damping: float
    delta: float
    reach: float


@lean_kernel
def swell_of(clock: Clock, t: int) -> float:
    """r: the root of the sums' scale at a round."""
    return math.exp(0.5 * clock.fade * (t - clock.base)) if clock.fade > 0.0 else 1.0


@lean_kernel
def count_of(clock: Clock, t: int) -> float:
    """t as formulas take it: the rounds so far, each by what is left of it."""
    if clock.fade > 0.0:
        return math.expm1(-clock.fade * t) / math.expm1(-clock.fade) + clock.heard
    return float(t)


@lean_kernel
def moment_at(clock: Clock, t: int) -> Moment:
    """The moment of a round."""
    swell = swell_of(clock, t)
    damping, delta = swell * (clock.drag * count_of(clock, t)), swell * clock.delta
    return Moment(damping, delta, damping + delta)


@lean_kernel
def curvature_of(square: float, delta: float) -> float:
    """H of s2."""
    return delta + math.sqrt(square)


@lean_kernel
def score_of(pull: float, root: float, moment: Moment) -> float:
    """H z^2."""
    weight = pull / (moment.reach + root)
    return (moment.delta + root) * weight * weight


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
