"""Losses of a margin, as integer codes: numba does not cache functions that are passed as arguments."""

import math

from streamsieve.kernels.compiler import lean_kernel

SQUARED_HINGE = 0
LOGISTIC = 1
HINGE = 2
SQUARED = 3

LOSS_CODES = {"squared_hinge": SQUARED_HINGE, "logistic": LOGISTIC, "hinge": HINGE, "squared": SQUARED}


@lean_kernel
def loss_of(code: int, label: float, margin: float) -> float:
    """The loss of a sample with label y and margin p, without any regulariser."""
    agreement = label * margin
    if code == SQUARED_HINGE:
        return (1.0 - agreement) * (1.0 - agreement) if agreement < 1.0 else 0.0
    if code == HINGE:
        return 1.0 - agreement if agreement < 1.0 else 0.0
    if code == SQUARED:
        return (label - margin) * (label - margin)
    if agreement > 0.0:
        return math.log1p(math.exp(-agreement))
    return math.log1p(math.exp(agreement)) - agreement


@lean_kernel
def slope_of(code: int, label: float, margin: float) -> float:
    """The loss's derivative by the margin p.

    Squared hinge -2 y (1 - y p) and hinge -y where y p < 1, logistic -y sigmoid(-y p), squared 2 (p - y).
    """
    agreement = label * margin
    if code == SQUARED_HINGE:
        return -2.0 * label * (1.0 - agreement) if agreement < 1.0 else 0.0
    if code == HINGE:
        return -label if agreement < 1.0 else 0.0
    if code == SQUARED:
        return 2.0 * (margin - label)
    # Only exponents <= 0, so that nothing overflows.
    if agreement > 0.0:
        small = math.exp(-agreement)
        return -label * (small / (1.0 + small))
    return -label * (1.0 / (1.0 + math.exp(agreement)))
