"""The n-th largest of many numbers, in time that no arrangement of ties can spoil."""

import numpy as np

from streamsieve.batch import F64, I64
from streamsieve.kernels.compiler import kernel, lean_kernel

DIGIT = 256


@kernel
def nth_largest(numbers: F64, rank: int) -> float:
    """The rank-th largest (1 = largest) of numbers >= 0, by radix: their bits are ordered as they are."""
    bits = numbers.view(np.int64).copy()
    count = len(bits)
    for shift in range(56, -8, -8):
        digits = np.zeros(DIGIT, np.int64)
        for at in range(count):
            digits[(bits[at] >> shift) & 255] += 1
        digit = 255
        while digits[digit] < rank:
            rank -= digits[digit]
            digit -= 1
        if digits[digit] == count:
            continue
        left = 0
        for at in range(count):
            if (bits[at] >> shift) & 255 == digit:
                bits[left] = bits[at]
                left += 1
        count = left
    return float(bits[:1].view(np.float64)[0])


@kernel
def nth_row(numbers: F64, rank: int) -> int:
    """The row that is rank-th (1 = first) by larger number, then lower row."""
    value = nth_largest(numbers, rank)
    for number in numbers:
        if number > value:
            rank -= 1
    for row in range(len(numbers)):
        if numbers[row] == value:
            rank -= 1
            if rank == 0:
                return row
    return -1


@lean_kernel
def is_worse(scores: F64, one: int, other: int) -> bool:
    """Does row one come after the other: smaller score, then higher row?"""
    return bool(scores[one] < scores[other] or (scores[one] == scores[other] and one > other))


@lean_kernel
def sift(rows: I64, scores: F64, root: int, count: int) -> None:
    """Let the root of a heap whose top is the worst sink to its place."""
    while 2 * root + 1 < count:
        child = 2 * root + 1
        if child + 1 < count and is_worse(scores, rows[child + 1], rows[child]):
            child += 1
        if not is_worse(scores, rows[child], rows[root]):
            return
        rows[root], rows[child] = rows[child], rows[root]
        root = child


@lean_kernel
def sort_best_first(rows: I64, scores: F64) -> None:
    """Heap sort rows in place by larger score, then lower row: half the time to compile that np.argsort takes."""
    for root in range(len(rows) // 2 - 1, -1, -1):
        sift(rows, scores, root, len(rows))
    for last in range(len(rows) - 1, 0, -1):
        rows[0], rows[last] = rows[last], rows[0]
        sift(rows, scores, 0, last)
