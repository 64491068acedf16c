"""The kept rows as a heap whose top is the worst, with each row's place in it: entering and leaving cost log B.

Worse means: smaller score, then higher row. Which rows are kept depends on the sums alone, never on the layout.
"""

from typing import NamedTuple

import numpy as np

from streamsieve.batch import F64, I32, I64
from streamsieve.kernels.compiler import lean_kernel

COUNT, STALE = range(2)  # of Kept.counts


class Kept(NamedTuple):
    """Positions 0 to count are in use; place[row] is a row's position + 1, zero for rows that are not kept.

    A learner that prunes now and then uses it as a plain list between prunings, and may keep more than the budget.
    """

    rows: I64
    scores: F64
    place: I32
    counts: I64


def new_kept(capacity: int) -> Kept:
    """Nothing kept, to be filled from the rows."""
    counts = np.array([0, 1], np.int64)
    return Kept(np.zeros(capacity, np.int64), np.zeros(capacity), np.zeros(capacity, np.int32), counts)


@lean_kernel
def put(kept: Kept, position: int, row: int, score: float) -> None:
    """Seat a row."""
    kept.rows[position], kept.scores[position] = row, score
    kept.place[row] = position + 1


@lean_kernel
def loses(kept: Kept, position: int, row: int, score: float) -> bool:
    """Does this row come after the one at the position?"""
    other = kept.scores[position]
    return bool(score < other or (score == other and row > kept.rows[position]))


@lean_kernel
def sink(kept: Kept, position: int, row: int, score: float) -> None:
    """Seat a row at the position or below it."""
    count = kept.counts[COUNT]
    while 2 * position + 1 < count:
        child = 2 * position + 1
        if child + 1 < count and loses(kept, child, kept.rows[child + 1], kept.scores[child + 1]):
            child += 1
        if loses(kept, child, row, score):
            break
        put(kept, position, kept.rows[child], kept.scores[child])
        position = child
    put(kept, position, row, score)


@lean_kernel
def settle(kept: Kept, position: int, row: int, score: float) -> None:
    """Seat a row at the position, above or below it, wherever its score belongs."""
    while position > 0:
        parent = (position - 1) // 2
        if not loses(kept, parent, row, score):
            break
        put(kept, position, kept.rows[parent], kept.scores[parent])
        position = parent
    sink(kept, position, row, score)


@lean_kernel
def append(kept: Kept, row: int) -> None:
    """Add a row at the end of the list, in no order."""
    put(kept, kept.counts[COUNT], row, 0.0)
    kept.counts[COUNT] += 1


@lean_kernel
def heapify(kept: Kept) -> None:
    """Bring all into the heap's order."""
    for position in range(kept.counts[COUNT] // 2 - 1, -1, -1):
        sink(kept, position, kept.rows[position], kept.scores[position])


@lean_kernel
def offer(kept: Kept, budget: int, row: int, score: float) -> int:
    """Let an outsider in if there is room or if it beats the worst; the row that stays outside, -1 if none."""
    if kept.counts[COUNT] < budget:
        kept.counts[COUNT] += 1
        settle(kept, kept.counts[COUNT] - 1, row, score)
        return -1
    if loses(kept, 0, row, score):
        return row
    loser = int(kept.rows[0])
    kept.place[loser] = 0
    sink(kept, 0, row, score)
    return loser


@lean_kernel
def let_go(kept: Kept) -> None:
    """Keep nothing until it is filled from the rows again."""
    for position in range(kept.counts[COUNT]):
        kept.place[kept.rows[position]] = 0
    kept.counts[COUNT], kept.counts[STALE] = 0, 1
