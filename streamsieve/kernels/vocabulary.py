"""Names and their rows: an open-addressing table over keyed hashes, the text kept once."""

from typing import NamedTuple

import numpy as np

from streamsieve.batch import I32, I64, U8, U64
from streamsieve.kernels.compiler import kernel, lean_kernel

LONGEST_NAME = 65_535  # lengths are stored as 16 bits


class Vocabulary(NamedTuple):
    """Row r is named ``arena[starts[r]:starts[r + 1]]``; rows are in first-known order.

    ``slots`` is a power of two long and at most half full; a slot holds row + 1, so zero is empty. Hashes are
    64 bits and keyed with a secret: two names that share one are not expected before billions of names.
    """

    slots: I32
    hashes: U64
    starts: I64
    arena: U8
    size: I64  # one number: how many rows


@lean_kernel
def find(slots: I32, hashes: U64, wanted: np.uint64) -> int:
    """The row of a hash, or -1."""
    mask = np.uint64(len(slots) - 1)
    at = np.int64(wanted & mask)
    while True:
        row = int(slots[at]) - 1
        if row < 0 or hashes[row] == wanted:
            return row
        at = (at + 1) & np.int64(mask)


@lean_kernel
def seat(slots: I32, row: int, hashed: np.uint64) -> None:
    """Put a row into the first free slot from its hash on."""
    mask = np.uint64(len(slots) - 1)
    at = np.int64(hashed & mask)
    while slots[at] != 0:
        at = (at + 1) & np.int64(mask)
    slots[at] = row + 1


@lean_kernel
def add(words: Vocabulary, hashed: np.uint64, text: U8, start: int, length: int) -> int:
    """Give a new name the next row; the caller has made sure of the room."""
    row = int(words.size[0])
    begin = words.starts[row]
    for byte in range(length):
        words.arena[begin + byte] = text[start + byte]
    words.starts[row + 1] = begin + length
    words.hashes[row] = hashed
    seat(words.slots, row, hashed)
    words.size[0] = row + 1
    return row


@lean_kernel
def seat_all(words: Vocabulary) -> None:
    """Fill an empty table from the rows."""
    for row in range(words.size[0]):
        seat(words.slots, row, words.hashes[row])


@lean_kernel
def forget_after(words: Vocabulary, rows: int) -> None:
    """Keep the first rows only, as if the later names had never come."""
    if words.size[0] > rows:
        words.size[0] = rows
        for slot in range(len(words.slots)):
            words.slots[slot] = 0
        seat_all(words)


@lean_kernel
def has_room(words: Vocabulary, names: int, text: int) -> bool:
    """Could so many new names of so many bytes be added?"""
    rows, used = words.size[0] + names, words.starts[words.size[0]]
    seats = rows < len(words.starts) and 2 * rows <= len(words.slots)
    return bool(seats and used + text <= len(words.arena))


@kernel
def find_or_add(words: Vocabulary, hashes: U64, text: U8, starts: I64, lengths: I32, max_names: int) -> I32:
    """The rows of many names, new ones added; -1 for those past max_names."""
    rows = np.empty(len(hashes), np.int32)
    for name in range(len(hashes)):
        row = find(words.slots, words.hashes, hashes[name])
        if row < 0 and words.size[0] < max_names:
            row = add(words, hashes[name], text, starts[name], lengths[name])
        rows[name] = row
    return rows
