"""The active set: at most `budget` named members with stored weights, in memory that does not grow with the stream.

Members are found by the hash of their name in an open-addressing table. Once the set is full a heap tells the worst
member: smallest score, then latest to enter. A newcomer takes the place of the member that it drives out.
"""

from typing import NamedTuple

import numpy as np

from streamsieve.batch import F64, I32, I64, U8, U64
from streamsieve.kernels.compiler import lean_kernel
from streamsieve.kernels.vocabulary import seat

SIZE, ENTERED, TEXT = range(3)  # of Members.counts: members, how many ever entered, bytes of text in use
MEMBER_CHUNK_BITS = 10  # 1,024 members are stored as one
REFRESHED, RENAMED = 1, 2  # of Members.dirty, as bits


class Members(NamedTuple):
    """Member m is named ``text[starts[m]:starts[m] + lengths[m]]``; its score is the largest of its |weights|."""

    slots: I32
    hashes: U64
    weights: F64  # by member and class
    scores: F64
    entries: I64  # when it entered: the how-manieth
    starts: I64
    lengths: I32
    heap: I32
    place: I32  # of a member in the heap
    dirty: U8  # by chunk of members
    text: U8
    counts: I64


class Moves(NamedTuple):
    """Members as they were before a record touched them; an entry of -1 means that the place was empty."""

    members: I32
    hashes: U64
    weights: F64
    entries: I64
    starts: I64
    lengths: I32
    sizes: I64  # how many moves; then Members.counts as they were


@lean_kernel
def is_worse(members: Members, one: int, other: int) -> bool:
    """Would one leave before the other?"""
    scores, entries = members.scores, members.entries
    return bool(
        scores[one] < scores[other] or (scores[one] == scores[other] and entries[one] > entries[other])
    )  # fmt: skip


@lean_kernel
def put(members: Members, at: int, member: int) -> None:
    """Place a member in the heap."""
    members.heap[at] = member
    members.place[member] = at


@lean_kernel
def sink(members: Members, at: int) -> None:
    """Let the member at this place of the heap sink to where it belongs."""
    heap, size = members.heap, members.counts[SIZE]
    member = heap[at]
    while 2 * at + 1 < size:
        child = 2 * at + 1
        if child + 1 < size and is_worse(members, heap[child + 1], heap[child]):
            child += 1
        if not is_worse(members, heap[child], member):
            break
        put(members, at, heap[child])
        at = child
    put(members, at, member)


@lean_kernel
def settle(members: Members, at: int) -> None:
    """Let the member at this place of the heap rise or sink to where it belongs."""
    heap = members.heap
    member = heap[at]
    while at > 0 and is_worse(members, member, heap[(at - 1) // 2]):
        put(members, at, heap[(at - 1) // 2])
        at = (at - 1) // 2
    put(members, at, member)
    sink(members, at)


@lean_kernel
def is_full(members: Members) -> bool:
    """Only then there is a heap."""
    return bool(members.counts[SIZE] == len(members.heap))


@lean_kernel
def build_heap(members: Members) -> None:
    """A heap of all members, if the set is full."""
    if is_full(members):
        for member in range(members.counts[SIZE]):
            put(members, member, member)
        for at in range(members.counts[SIZE] // 2 - 1, -1, -1):
            sink(members, at)


@lean_kernel
def seat_all(members: Members) -> None:
    """Fill an empty table from the members."""
    for member in range(members.counts[SIZE]):
        seat(members.slots, member, members.hashes[member])


@lean_kernel
def unseat(slots: I32, hashes: U64, hashed: np.uint64) -> None:
    """Take a member out of the table and close the gap, so that no search ends too soon."""
    mask = np.int64(len(slots) - 1)
    hole = np.int64(hashed & np.uint64(mask))
    while hashes[slots[hole] - 1] != hashed:
        hole = (hole + 1) & mask
    at = hole
    while True:
        at = (at + 1) & mask
        if slots[at] == 0:
            break
        home = np.int64(hashes[slots[at] - 1] & np.uint64(mask))
        if ((at - home) & mask) >= ((at - hole) & mask):
            slots[hole] = slots[at]
            hole = at
    slots[hole] = 0


@lean_kernel
def note(members: Members, member: int, moves: Moves) -> None:
    """Log a member as it is; the place after the last one is noted as empty."""
    at = moves.sizes[0]
    moves.members[at] = member
    moves.hashes[at] = members.hashes[member]
    moves.entries[at] = members.entries[member] if member < members.counts[SIZE] else -1
    moves.starts[at], moves.lengths[at] = members.starts[member], members.lengths[member]
    for line in range(members.weights.shape[1]):
        moves.weights[at, line] = members.weights[member, line]
    moves.sizes[0] = at + 1


@lean_kernel
def weigh(members: Members, member: int, weights: F64, score: float, classes: int) -> None:
    """Store a member's weights."""
    for line in range(classes):
        members.weights[member, line] = weights[line]
    members.scores[member] = score
    members.dirty[member >> MEMBER_CHUNK_BITS] |= REFRESHED


@lean_kernel
def occupy(members: Members, member: int, hashed: np.uint64, text: U8, start: int, length: int) -> None:
    """Give a place to a newcomer; the caller has made sure of the room for its name."""
    begin = members.counts[TEXT]
    for byte in range(length):
        members.text[begin + byte] = text[start + byte]
    members.counts[TEXT] = begin + length
    members.starts[member], members.lengths[member] = begin, length
    members.hashes[member] = hashed
    members.entries[member] = members.counts[ENTERED]
    members.counts[ENTERED] += 1
    members.dirty[member >> MEMBER_CHUNK_BITS] |= RENAMED
    seat(members.slots, member, hashed)


@lean_kernel
def score_of(weights: F64, classes: int) -> float:
    """The largest |weight|."""
    score = 0.0
    for line in range(classes):
        score = max(score, abs(weights[line]))
    return score


@lean_kernel
def undo_moves(members: Members, moves: Moves) -> None:
    """Be as before the record."""
    for at in range(moves.sizes[0] - 1, -1, -1):
        member = moves.members[at]
        empty, renamed = moves.entries[at] < 0, members.hashes[member] != moves.hashes[at]
        if empty or renamed:
            unseat(members.slots, members.hashes, members.hashes[member])
        members.hashes[member] = moves.hashes[at]
        if renamed and not empty:
            seat(members.slots, member, moves.hashes[at])
        members.entries[member] = moves.entries[at]
        members.starts[member], members.lengths[member] = moves.starts[at], moves.lengths[at]
        for line in range(members.weights.shape[1]):
            members.weights[member, line] = moves.weights[at, line]
        members.scores[member] = score_of(members.weights[member], members.weights.shape[1])
    for at in range(len(members.counts)):
        members.counts[at] = moves.sizes[1 + at]
    if moves.sizes[0] > 0:
        build_heap(members)
    moves.sizes[0] = 0
