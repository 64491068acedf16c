"""A count-sketch (Charikar et al.): many numbers by name, added up in few cells.

cells = S, one line of depth x width float32 a class; a name's cell and sign in each of the `depth` rows come from its
keyed 64-bit hash by a mixer, so that strangers can't choose names that collide. A query is the median of the rows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from streamsieve.batch import F64, I32, I64, U8, U64
from streamsieve.kernels.compiler import kernel, lean_kernel

F32 = NDArray[np.float32]

PIECE_BITS = 12  # 4,096 cells, 16 KiB, are stored as one
PIECE = 1 << PIECE_BITS
UNTOUCHED, STORED, DIRTY = range(3)  # of a piece

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
MIX1 = np.uint64(0xBF58476D1CE4E5B9)
MIX2 = np.uint64(0x94D049BB133111EB)
S27, S30, S31, S63 = (np.uint64(bits) for bits in (27, 30, 31, 63))


class Sketch(NamedTuple):
    """cells[class] is depth rows of `width` end to end; others holds the peers' cells added up (no lines: no peers)."""

    cells: F32
    others: F64
    pieces: U8  # by class, then piece of its cells: UNTOUCHED, STORED or DIRTY


class Writes(NamedTuple):
    """Cells and pieces as they were before a record wrote to them; `sizes` counts both."""

    cells: I64
    values: F32
    pieces: I32
    states: U8
    sizes: I64


@lean_kernel
def mixed(hashed: np.uint64, row: int) -> np.uint64:
    """The row-th number that splitmix64 gives from a seed."""
    number = hashed + np.uint64(row + 1) * GOLDEN
    number = (number ^ (number >> S30)) * MIX1
    number = (number ^ (number >> S27)) * MIX2
    return number ^ (number >> S31)


@lean_kernel
def spot_of(hashed: np.uint64, row: int, width: int) -> int:
    """h_j and s_j in one: twice the cell within its class, plus 1 where the sign is -1."""
    number = mixed(hashed, row)
    cell = np.int64(row * width) + np.int64(number & np.uint64(width - 1))
    return int(2 * cell + np.int64(number >> S63))


@lean_kernel
def median_of(votes: F64) -> float:
    """The middle of an odd count of numbers, which it sorts: few, so by insertion."""
    for at in range(1, len(votes)):
        vote = votes[at]
        left = at - 1
        while left >= 0 and votes[left] > vote:
            votes[left + 1] = votes[left]
            left -= 1
        votes[left + 1] = vote
    return float(votes[len(votes) // 2])


@lean_kernel
def middle_of(one: float, two: float, three: float) -> float:
    """The median of three."""
    return max(min(one, two), min(max(one, two), three))


@lean_kernel
def vote(cells: F32, others: F64, line: int, spot: int) -> float:
    """What one row says of a name."""
    value = np.float64(cells[line, spot >> 1])
    if len(others) > 0:
        value += others[line, spot >> 1]
    return float(-value if spot & 1 else value)


@lean_kernel
def estimate(cells: F32, others: F64, line: int, spots: I64, first: int, votes: F64) -> float:
    """QUERY: the median of the cells of one name, from this shard and its peers."""
    if len(votes) == 3:
        return middle_of(
            vote(cells, others, line, spots[first]),
            vote(cells, others, line, spots[first + 1]),
            vote(cells, others, line, spots[first + 2]),
        )
    for row in range(len(votes)):
        votes[row] = vote(cells, others, line, spots[first + row])
    return median_of(votes)


@kernel
def estimates(sketch: Sketch, hashes: U64, classes: int, depth: int, width: int) -> F64:
    """Query many names: a line of estimates each, one a class."""
    answers, spots, votes = np.empty((len(hashes), classes)), np.empty(depth, np.int64), np.empty(depth)
    for name in range(len(hashes)):
        for row in range(depth):
            spots[row] = spot_of(hashes[name], row, width)
        for line in range(classes):
            answers[name, line] = estimate(sketch.cells, sketch.others, line, spots, 0, votes)
    return answers


@lean_kernel
def increase_all(
    sketch: Sketch, line: int, spots: I64, values: F64, start: int, stop: int, slope: float, writes: Writes
) -> bool:
    """UPDATE by slope x value for each entry of a sample, cells rounded once. False: one would not be finite.

    Written as one loop over plain arrays: passing the tuples on for each cell took longer than the arithmetic.
    """
    cells, pieces, before_cells, before_values = sketch.cells, sketch.pieces, writes.cells, writes.values
    depth = len(spots) // (stop - start) if stop > start else 0
    a_line = cells.shape[1]
    first_cell, first_piece = line * a_line, line * ((a_line + PIECE - 1) >> PIECE_BITS)
    at, finite = writes.sizes[0], True
    for entry in range(start, stop):
        amount = slope * values[entry]
        for row in range((entry - start) * depth, (entry - start + 1) * depth):
            spot = spots[row]
            cell = spot >> 1
            before = cells[line, cell]
            after = np.float32(np.float64(before) + (-amount if spot & 1 else amount))
            finite = finite and np.isfinite(after)
            before_cells[at], before_values[at] = first_cell + cell, before
            at += 1
            cells[line, cell] = after
            piece = first_piece + (cell >> PIECE_BITS)
            if pieces[piece] != DIRTY:
                noted = writes.sizes[1]
                writes.pieces[noted], writes.states[noted] = piece, pieces[piece]
                writes.sizes[1] = noted + 1
                pieces[piece] = DIRTY
    writes.sizes[0] = at
    return bool(finite)


@lean_kernel
def take_back(sketch: Sketch, writes: Writes, first: int) -> None:
    """Undo the writes from the first on. Pieces go back only with all writes: a mark too many costs but a rewrite."""
    a_line = sketch.cells.shape[1]
    for at in range(writes.sizes[0] - 1, first - 1, -1):
        cell = writes.cells[at]
        sketch.cells[cell // a_line, cell % a_line] = writes.values[at]
    writes.sizes[0] = first
    if first == 0:
        for at in range(writes.sizes[1]):
            sketch.pieces[writes.pieces[at]] = writes.states[at]
        writes.sizes[1] = 0
