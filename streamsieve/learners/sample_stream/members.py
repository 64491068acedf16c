"""The active set in chunks and out of them; kernels move its members."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from streamsieve.batch import F64, I64, U8, U64
from streamsieve.errors import CorruptState
from streamsieve.kernels.active_set import (
    ENTERED,
    REFRESHED,
    RENAMED,
    SIZE,
    TEXT,
    Members,
    build_heap,
    seat_all,
)
from streamsieve.kernels.hashing import hash_names
from streamsieve.learners.protocol import Chunks
from streamsieve.learners.sample_stream.mission_chunks import Parsed, encode_weights
from streamsieve.learners.sample_stream.row_chunks import CHUNK_ROWS, chunk_count, encode_names
from streamsieve.learners.sample_stream.rows import enlarged, gathered

FIRST_TEXT = 64 * 1024


class ActiveSet:
    """Holds `members`; its arrays have room for the whole budget, pages never written cost no memory."""

    def __init__(self, budget: int, classes: int) -> None:
        self.members = Members(
            slots=np.zeros(1 << (2 * budget - 1).bit_length(), np.int32),
            hashes=np.zeros(budget, np.uint64),
            weights=np.zeros((budget, classes)),
            scores=np.zeros(budget),
            entries=np.zeros(budget, np.int64),
            starts=np.zeros(budget, np.int64),
            lengths=np.zeros(budget, np.int32),
            heap=np.zeros(budget, np.int32),
            place=np.zeros(budget, np.int32),
            dirty=np.zeros(chunk_count(budget), np.uint8),
            text=np.zeros(FIRST_TEXT, np.uint8),
            counts=np.zeros(3, np.int64),
        )

    @property
    def size(self) -> int:
        """How many members."""
        return int(self.members.counts[SIZE])

    @property
    def entered(self) -> int:
        """How many ever entered."""
        return int(self.members.counts[ENTERED])

    def make_room(self, text: int) -> None:
        """For so many more bytes of names."""
        used = int(self.members.counts[TEXT])
        if used + text > len(self.members.text):
            longer = enlarged(self.members.text, max(used + text, 2 * len(self.members.text)), used)
            self.members = self.members._replace(text=longer)

    def tidy(self) -> None:
        """Drop the names of those that left, once they take more room than the members'."""
        used, live = int(self.members.counts[TEXT]), int(self.members.lengths[: self.size].sum())
        if used > 2 * live + FIRST_TEXT:
            self._lay_out(self._starts(), self._lengths(), self.members.text)

    def widen(self, classes: int) -> None:
        """Have room for so many classes."""
        weights = np.zeros((len(self.members.weights), classes))
        weights[: self.size, : self.members.weights.shape[1]] = self.members.weights[: self.size]
        self.members = self.members._replace(weights=weights)

    def all_refreshed(self) -> None:
        """Each chunk of weights changed: there is a class more."""
        self.members.dirty[: chunk_count(self.size)] |= REFRESHED

    def best_first(self) -> I64:
        """Members of nonzero weight by larger score, then earlier entry."""
        scores, entries = self.members.scores[: self.size], self.members.entries[: self.size]
        order = np.lexsort((entries, -scores))
        return order[scores[order] > 0.0]

    def name(self, member: int) -> str:
        """A member's name."""
        start = int(self.members.starts[member])
        return self.members.text[start : start + int(self.members.lengths[member])].tobytes().decode()

    def chunks(self, classes: int, changed_only: bool = False) -> Chunks:
        """All chunks, or those that changed."""
        chunks: Chunks = {}
        for number in range(chunk_count(self.size)):
            state = int(self.members.dirty[number]) if changed_only else REFRESHED | RENAMED
            if state:
                chunks[f"w:{number}"] = self._encode_weights(number, classes)
            if state & RENAMED:
                chunks[f"n:{number}"] = self._encode_names(number)
        return chunks

    def settled(self) -> None:
        """What changed is safe."""
        self.members.dirty[:] = 0

    def dirty_bytes(self, classes: int) -> int:
        """About how large the changed chunks are."""
        dirty = self.members.dirty[: chunk_count(self.size)]
        mean_name = 2 + int(self._lengths().sum()) // max(self.size, 1)
        weights, names = np.count_nonzero(dirty), np.count_nonzero(dirty & RENAMED)
        return int(CHUNK_ROWS * (8 * (1 + classes) * weights + mean_name * names))

    def restore(self, parsed: Parsed, key: U64) -> None:
        """Take the members of a parsed shard; this set is empty. Raises CorruptState."""
        size, classes = parsed.head.members, len(parsed.head.intercepts)
        if size > len(self.members.heap):
            raise CorruptState(f"{size} members, but the budget is {len(self.members.heap)}")
        numbers = range(chunk_count(size))
        for kind, found in (("w", parsed.weights), ("n", parsed.names)):
            _check_present(kind, found, numbers)
        if size == 0:
            return
        entries = np.concatenate([parsed.weights[number][0] for number in numbers])
        weights = np.concatenate([parsed.weights[number][1] for number in numbers])
        text = np.concatenate([parsed.names[number].text for number in numbers])
        lengths = np.concatenate([parsed.names[number].lengths for number in numbers]).astype(np.int64)
        starts = np.cumsum(lengths) - lengths
        hashes = hash_names(text, starts, lengths.astype(np.int32), key)
        if len(np.unique(hashes)) != size or len(np.unique(entries)) != size:
            raise CorruptState("a member occurs twice")
        self.members.counts[ENTERED] = parsed.head.entered
        self.fill(hashes, weights, entries)
        self._lay_out(starts, lengths, text)
        self.members.weights[:size, classes:] = 0.0
        self.settled()

    def fill(self, hashes: U64, weights: F64, entries: I64) -> None:
        """Have these members in these places; names are the caller's."""
        size, members = len(hashes), self.members
        self._mark(RENAMED, members.hashes[:size] != hashes)
        self._mark(REFRESHED, (members.weights[:size, : weights.shape[1]] != weights).any(axis=1))
        self._mark(RENAMED, np.arange(size) >= self.size)
        members.counts[SIZE] = size
        members.hashes[:size] = hashes
        members.weights[:size, : weights.shape[1]] = weights
        members.scores[:size] = np.abs(weights).max(axis=1, initial=0.0)
        members.entries[:size] = entries
        members.slots[:] = 0
        seat_all(members)
        build_heap(members)

    def _mark(self, state: int, changed: NDArray[np.bool_]) -> None:
        np.bitwise_or.at(self.members.dirty, np.flatnonzero(changed) // CHUNK_ROWS, np.uint8(state))

    def rename(self, names: list[bytes]) -> None:
        """Have these names, one a member."""
        lengths = np.array([len(name) for name in names], np.int64)
        text = np.frombuffer(bytearray().join(names), np.uint8)
        self._lay_out(np.cumsum(lengths) - lengths, lengths, text)

    def _lay_out(self, starts: I64, lengths: I64, text: U8) -> None:
        """Copy the names end to end into a fresh arena with room for as much again."""
        joined = gathered(text, starts, lengths)
        arena = np.zeros(2 * len(joined) + FIRST_TEXT, np.uint8)
        arena[: len(joined)] = joined
        self.members.starts[: len(lengths)] = np.cumsum(lengths) - lengths
        self.members.lengths[: len(lengths)] = lengths
        self.members.counts[TEXT] = len(joined)
        self.members = self.members._replace(text=arena)

    def _starts(self) -> I64:
        return self.members.starts[: self.size]

    def _lengths(self) -> I64:
        return self.members.lengths[: self.size].astype(np.int64)

    def _encode_weights(self, number: int, classes: int) -> bytes:
        view = slice(number * CHUNK_ROWS, min((number + 1) * CHUNK_ROWS, self.size))
        return encode_weights(self.members.entries[view], self.members.weights[view, :classes])

    def _encode_names(self, number: int) -> bytes:
        view = slice(number * CHUNK_ROWS, min((number + 1) * CHUNK_ROWS, self.size))
        lengths = self._lengths()[view]
        return encode_names(lengths, gathered(self.members.text, self._starts()[view], lengths))


def _check_present(kind: str, found: Mapping[int, object], numbers: range) -> None:
    for number in numbers:
        if number not in found:
            raise CorruptState(f"chunk {kind}:{number} is missing")
