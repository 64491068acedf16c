"""The steps of the learners that keep at most B weights: what a sample makes of the numbers it concerns.

Column 0 of a row is its weight (w; mu of SOFS), column 1, where there is one, s2 of B-AMD or S of SOFS. A step is
staged, checked, and only then written. `touched` is by entry of the sample; `held` by position among the kept, for
steps that move all of them (shrinkage > 0).
"""

import math
from typing import NamedTuple

from streamsieve.batch import F64, I64, Batch
from streamsieve.kernels.adaptive import curvature_of
from streamsieve.kernels.compiler import lean_kernel
from streamsieve.kernels.dual_averaging import GRADIENT, SQUARE, Head
from streamsieve.kernels.kept import COUNT, Kept

B_AMD, OFS, SOFS, IHT = range(4)  # methods
WEIGHT, SECOND = GRADIENT, SQUARE  # of Head.floats: the intercept's two numbers
FIXED = 2.0**40  # one, in the fixed point of `norm_of`
LEAST_NORM = 1e-200  # no ball is as small
NEW, IGNORED_NAME = -1, -2  # found: no row yet; none to be had


class Rule(NamedTuple):
    """What the user chose: rate = eta, shrinkage = lambda, confidence = gamma, budget = B."""

    method: int
    loss: int
    budget: int
    intercept: bool
    max_names: int
    rate: float = 1.0
    delta: float = 1.0
    shrinkage: float = 0.0
    confidence: float = 1.0
    batch: int = 1  # samples between two prunings


class Stage(NamedTuple):
    """New numbers that are not written yet, two a row."""

    touched: F64
    held: F64
    intercept: F64


@lean_kernel
def first_second(method: int) -> float:
    """Column 1 of a feature never seen: S = 1, s2 = 0."""
    return 1.0 if method == SOFS else 0.0


@lean_kernel
def second_of(own: F64, row: int, method: int) -> float:
    """Column 1 of a row, or of a name that has none yet."""
    if own.shape[1] < 2:
        return 0.0
    return float(own[row, 1]) if row >= 0 else first_second(method)


@lean_kernel
def score_of(own: F64, row: int, rule: Rule) -> float:
    """What the budget goes by: H |z| of B-AMD, -S of SOFS, else |w|."""
    if rule.method == B_AMD:
        return float(curvature_of(own[row, 1], rule.delta) * abs(own[row, 0]))
    if rule.method == SOFS:
        return float(-own[row, 1])
    return float(abs(own[row, 0]))


@lean_kernel
def stage_mirror(weight: float, square: float, gradient: float, rule: Rule, staged: F64, at: int) -> None:
    """B-AMD: s2 += g^2, z = w - eta g / H."""
    square += gradient * gradient
    staged[at, 0] = weight - rule.rate * gradient / curvature_of(square, rule.delta)
    staged[at, 1] = square


@lean_kernel
def stage_b_amd(
    batch: Batch, start: int, stop: int, found: I64, own: F64, kept: Kept, head: Head, rule: Rule, stage: Stage,
    slope: float,
) -> None:  # fmt: skip
    """g = loss gradient + lambda w, for the sample's features, and where lambda > 0 for all kept ones."""
    if rule.shrinkage > 0.0:
        for position in range(kept.counts[COUNT]):
            weight, square = own[kept.rows[position], 0], own[kept.rows[position], 1]
            stage_mirror(weight, square, rule.shrinkage * weight, rule, stage.held, position)
    for entry in range(start, stop):
        row = found[entry - start]
        weight = own[row, 0] if row >= 0 else 0.0
        gradient = slope * batch.values[entry] + rule.shrinkage * weight
        stage_mirror(weight, second_of(own, row, B_AMD), gradient, rule, stage.touched, entry - start)
    weight = head.floats[WEIGHT]
    stage_mirror(weight, head.floats[SECOND], slope + rule.shrinkage * weight, rule, stage.intercept, 0)


@lean_kernel
def stage_gradient(
    batch: Batch, start: int, stop: int, found: I64, own: F64, kept: Kept, head: Head, rule: Rule, stage: Stage,
    slope: float,
) -> None:  # fmt: skip
    """OFS and IHT: w = (1 - lambda eta) w - eta g; lambda is OFS's alone."""
    shrink = 1.0 - rule.shrinkage * rule.rate
    if rule.shrinkage > 0.0:
        for position in range(kept.counts[COUNT]):
            stage.held[position, 0] = shrink * own[kept.rows[position], 0]
    for entry in range(start, stop):
        row = found[entry - start]
        weight = own[row, 0] if row >= 0 else 0.0
        stage.touched[entry - start, 0] = shrink * weight - rule.rate * (slope * batch.values[entry])
    stage.intercept[0, 0] = shrink * head.floats[WEIGHT] - rule.rate * slope


@lean_kernel
def stage_sofs(
    batch: Batch, start: int, stop: int, found: I64, own: F64, head: Head, rule: Rule, stage: Stage, gain: float
) -> None:
    """mu += (1 - y p) beta y S x, S = 1 / (1/S + x^2 / gamma); gain is weight (1 - y p) y."""
    doubt = head.floats[SECOND] if rule.intercept else 0.0
    for entry in range(start, stop):
        if found[entry - start] != IGNORED_NAME:
            value = batch.values[entry]
            doubt += second_of(own, found[entry - start], SOFS) * value * value
    step = gain * (1.0 / (doubt + rule.confidence))
    for entry in range(start, stop):
        row, value = found[entry - start], batch.values[entry]
        weight, spread = own[row, 0] if row >= 0 else 0.0, second_of(own, row, SOFS)
        stage.touched[entry - start, 0] = weight + step * spread * value
        stage.touched[entry - start, 1] = 1.0 / (1.0 / spread + value * value / rule.confidence)
    spread = head.floats[SECOND]
    stage.intercept[0, 0] = head.floats[WEIGHT] + step * spread
    stage.intercept[0, 1] = 1.0 / (1.0 / spread + 1.0 / rule.confidence)


@lean_kernel
def give_touched_to_held(stop: int, found: I64, kept: Kept, stage: Stage) -> None:
    """A kept feature of the sample is staged twice: what the sample says counts."""
    for entry in range(stop):
        if found[entry] >= 0 and kept.place[found[entry]] > 0:
            position = kept.place[found[entry]] - 1
            stage.held[position, 0], stage.held[position, 1] = stage.touched[entry, 0], stage.touched[entry, 1]


@lean_kernel
def is_outsider(row: int, kept: Kept) -> bool:
    """Is this entry's feature neither kept nor ignored?"""
    return row == NEW or (row >= 0 and kept.place[row] == 0)


@lean_kernel
def fixed_square(part: float) -> tuple[int, int]:
    """The square of a number up to 1, in whole units of 2^-40 and of 2^-80."""
    units = part * part * FIXED
    whole = math.floor(units)
    return whole, math.floor((units - whole) * FIXED)


@lean_kernel
def norm_of(entries: int, found: I64, kept: Kept, rule: Rule, stage: Stage) -> float:
    """The Euclidean norm of all staged weights, the same to the bit in whatever order the kept ones lie.

    Squares relative to the largest are added as whole numbers.
    """
    most = abs(stage.intercept[0, 0]) if rule.intercept else 0.0
    for position in range(kept.counts[COUNT]):
        most = max(most, abs(stage.held[position, 0]))
    for entry in range(entries):
        if is_outsider(found[entry], kept):
            most = max(most, abs(stage.touched[entry, 0]))
    if most < LEAST_NORM:
        return most
    inverse = 1.0 / most
    high, low = fixed_square(stage.intercept[0, 0] * inverse if rule.intercept else 0.0)
    for position in range(kept.counts[COUNT]):
        more, rest = fixed_square(stage.held[position, 0] * inverse)
        high, low = high + more, low + rest
    for entry in range(entries):
        if is_outsider(found[entry], kept):
            more, rest = fixed_square(stage.touched[entry, 0] * inverse)
            high, low = high + more, low + rest
    return float(most * math.sqrt((high + low / FIXED) / FIXED))


@lean_kernel
def pull_into_ball(entries: int, found: I64, kept: Kept, rule: Rule, stage: Stage) -> None:
    """Scale all staged weights so that their norm is at most 1 / sqrt(lambda)."""
    norm, radius = norm_of(entries, found, kept, rule, stage), 1.0 / math.sqrt(rule.shrinkage)
    if norm > radius:
        scale = radius / norm
        for position in range(kept.counts[COUNT]):
            stage.held[position, 0] *= scale
        for entry in range(entries):
            stage.touched[entry, 0] *= scale
        stage.intercept[0, 0] *= scale


@lean_kernel
def probe_of(weight: float, second: float, method: int) -> float:
    """Zero if the numbers may be kept. A weight whose square is infinite would spoil norms and margins to come."""
    if method == SOFS:
        second = 1.0 / second
    return weight * weight * 0.0 + second * 0.0


@lean_kernel
def may_be_kept(entries: int, found: I64, kept: Kept, rule: Rule, stage: Stage, moves_all: bool) -> bool:
    """Is every staged number finite?"""
    probe = 0.0
    for entry in range(entries):
        if found[entry] != IGNORED_NAME:
            probe += probe_of(stage.touched[entry, 0], stage.touched[entry, 1], rule.method)
    if moves_all:
        for position in range(kept.counts[COUNT]):
            probe += probe_of(stage.held[position, 0], stage.held[position, 1], rule.method)
    if rule.intercept:
        probe += probe_of(stage.intercept[0, 0], stage.intercept[0, 1], rule.method)
    return probe == 0.0


@lean_kernel
def stage_step(
    batch: Batch, start: int, stop: int, found: I64, own: F64, kept: Kept, head: Head, rule: Rule, stage: Stage,
    slope: float, loss: float,
) -> bool:  # fmt: skip
    """Work out a sample's step. May it be taken?"""
    moves_all = rule.shrinkage > 0.0
    if rule.method == B_AMD:
        stage_b_amd(batch, start, stop, found, own, kept, head, rule, stage, slope)
    elif rule.method == SOFS:
        stage_sofs(batch, start, stop, found, own, head, rule, stage, -slope * loss)
    else:
        stage_gradient(batch, start, stop, found, own, kept, head, rule, stage, slope)
    if moves_all:
        give_touched_to_held(stop - start, found, kept, stage)
    whole = may_be_kept(stop - start, found, kept, rule, stage, moves_all)
    if whole and moves_all and rule.method == OFS and slope != 0.0:
        pull_into_ball(stop - start, found, kept, rule, stage)
    return whole
