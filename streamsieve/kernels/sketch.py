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
def estimate(sketch: Sketch, line: int, spots: I64, first: int, votes: F64) -> float:
    """QUERY: the median of the cells of one name, from this shard and its peers."""
    cells, others, shared = sketch.cells, sketch.others, len(sketch.others) > 0
    for row in range(len(votes)):
        spot = spots[first + row]
        value = np.float64(cells[line, spot >> 1])
        if shared:
            value += others[line, spot >> 1]
        votes[row] = -value if spot & 1 else value
    return median_of(votes)


@kernel
def estimates(sketch: Sketch, hashes: U64, classes: int, depth: int, width: int) -> F64:
    """Query many names: a line of estimates each, one a class."""
    answers, spots, votes = np.empty((len(hashes), classes)), np.empty(depth, np.int64), np.empty(depth)
    for name in range(len(hashes)):
        for row in range(depth):
            spots[row] = spot_of(hashes[name], row, width)
        for line in range(classes):
            answers[name, line] = estimate(sketch, line, spots, 0, votes)
    return answers


@lean_kernel
def mark(pieces: U8, piece: int, writes: Writes) -> None:
    """A piece is about to change; note how it was."""
    if pieces[piece] != DIRTY:
        at = writes.sizes[1]
        writes.pieces[at], writes.states[at] = piece, pieces[piece]
        writes.sizes[1] = at + 1
        pieces[piece] = DIRTY


@lean_kernel
def increase(sketch: Sketch, line: int, spot: int, amount: float, writes: Writes) -> bool:
    """UPDATE of one row: add the signed amount to its cell, rounded once. False: it would not be finite."""
    cell = spot >> 1
    before = sketch.cells[line, cell]
    after = np.float32(np.float64(before) + (-amount if spot & 1 else amount))
    if not np.isfinite(after):
        return False
    at = writes.sizes[0]
    writes.cells[at], writes.values[at] = line * sketch.cells.shape[1] + cell, before
    writes.sizes[0] = at + 1
    a_line = (sketch.cells.shape[1] + PIECE - 1) >> PIECE_BITS
    mark(sketch.pieces, line * a_line + (cell >> PIECE_BITS), writes)
    sketch.cells[line, cell] = after
    return True


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
