"""Progressive validation: each sample is predicted before it is learnt."""

import numpy as np

from streamsieve.batch import I64
from streamsieve.kernels.compiler import lean_kernel

BINS = 512


@lean_kernel
def bin_of(margin: float) -> int:
    """The histogram bin of a finite margin, squashed to p / (1 + |p|)."""
    squashed = margin / (1.0 + abs(margin))
    return min(int((squashed + 1.0) * (BINS // 2)), BINS - 1)


def area_under_curve(histogram: I64) -> float | None:
    """AUC from the bins of negative (row 0) and positive (row 1) samples, ties half; None without both kinds.

    >>> histogram = np.zeros((2, BINS), np.int64)
    >>> histogram[0, 100], histogram[1, 100], histogram[1, 300] = 1, 1, 1
    >>> area_under_curve(histogram)
    0.75
    """
    negative, positive = histogram[0].astype(np.float64), histogram[1].astype(np.float64)
    pairs = negative.sum() * positive.sum()
    if pairs == 0:
        return None
    below = np.cumsum(negative) - negative
    return float((positive * (below + 0.5 * negative)).sum() / pairs)
