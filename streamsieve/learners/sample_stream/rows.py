"""A growing table of named rows of sums, for every learner that keeps sums by feature."""

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from streamsieve.batch import F64, I32, I64, U8, U64
from streamsieve.errors import CorruptState
from streamsieve.kernels.dual_averaging import Shard
from streamsieve.kernels.hashing import hash_names, key_words
from streamsieve.kernels.vocabulary import Vocabulary, find_or_add, seat_all
from streamsieve.learners.protocol import Chunks
from streamsieve.learners.sample_stream.row_chunks import (
    CHUNK_ROWS,
    NameChunk,
    RowChunks,
    chunk_count,
    encode_names,
    encode_sums,
)

Array = TypeVar("Array", bound="np.ndarray[Any, Any]")

FIRST_ROWS = 1024
FIRST_TEXT = 16 * 1024


class Rows:
    """Names, sums and what changed. Kernels fill the arrays; this class makes room and speaks in chunks."""

    def __init__(self, width: int, hash_key: bytes, max_names: int, shared: bool) -> None:
        self.width = width
        self.max_names = max_names
        self.shared = shared
        self._key: U64 = key_words(hash_key)
        self._settled_rows = 0
        slots = np.zeros(4 * FIRST_ROWS, np.int32)
        starts = np.zeros(FIRST_ROWS + 1, np.int64)
        hashes, text = np.zeros(FIRST_ROWS, np.uint64), np.zeros(FIRST_TEXT, np.uint8)
        self.words = Vocabulary(slots, hashes, starts, text, np.zeros(1, np.int64))
        heard = FIRST_ROWS if shared else 0
        self.shard = Shard(
            own=np.zeros((FIRST_ROWS, width)),
            others=np.zeros((heard, width)),
            own_row=np.zeros(heard, np.int32),
            own_order=np.zeros(heard, np.int32),
            dirty=np.zeros(chunk_count(FIRST_ROWS), np.uint8),
        )

    @property
    def size(self) -> int:
        """Rows known, those heard of included."""
        return int(self.words.size[0])

    @property
    def capacity(self) -> int:
        """Rows that there is room for."""
        return len(self.shard.own)

    def reserve(self, names: int, text: int) -> None:
        """Make room for so many more names and bytes. Arrays double; pages never written cost no memory."""
        rows = max(min(self.size + names, self.max_names), self.size)
        used = int(self.words.starts[self.size])
        if rows > self.capacity:
            self._widen(max(rows, 2 * self.capacity))
        if used + text > len(self.words.arena):
            arena = enlarged(self.words.arena, max(used + text, 2 * len(self.words.arena)), used)
            self.words = self.words._replace(arena=arena)
        if 2 * rows > len(self.words.slots):
            slots = np.zeros(1 << (2 * rows - 1).bit_length(), np.int32)
            self.words = self.words._replace(slots=slots)
            seat_all(self.words)

    def _widen(self, capacity: int) -> None:
        size, shard = self.size, self.shard
        heard = capacity if self.shared else 0
        starts = enlarged(self.words.starts, capacity + 1, size + 1)
        self.words = self.words._replace(hashes=enlarged(self.words.hashes, capacity, size), starts=starts)
        self.shard = Shard(
            own=enlarged(shard.own, capacity, size),
            others=enlarged(shard.others, heard, min(size, heard)),
            own_row=enlarged(shard.own_row, heard, min(size, heard)),
            own_order=enlarged(shard.own_order, heard, min(size, heard)),
            dirty=enlarged(shard.dirty, chunk_count(capacity), len(shard.dirty)),
        )

    def names_of(self, rows: I64) -> list[str]:
        """The names of some rows."""
        starts, arena = self.words.starts, self.words.arena
        return [arena[starts[row] : starts[row + 1]].tobytes().decode() for row in rows]

    def sums_of(self, rows: I64) -> F64:
        """This shard's sums of some rows, plus its peers' as last brought up to date."""
        own = self.shard.own[rows]
        return own + self.shard.others[rows] if self.shared else own

    def scale(self, factor: float, own_rows: int) -> None:
        """Multiply all sums, own and heard."""
        self.shard.own[: self.size] *= factor
        self.shard.others[: self.size] *= factor
        self.shard.dirty[: chunk_count(own_rows)] = 1

    def know(self, names: NameChunk) -> I32:
        """The rows of some names, new ones added and zeroed; -1 for those past max_names."""
        hashes = hash_names(names.text, names.starts, names.lengths, self._key)
        self.reserve(len(hashes), len(names.text))
        before = self.size
        rows = find_or_add(self.words, hashes, names.text, names.starts, names.lengths, self.max_names)
        self.shard.own[before : self.size] = 0.0
        if self.shared:
            self.shard.others[before : self.size] = 0.0
            self.shard.own_row[before : self.size] = -1
        return rows

    def chunks(self, own_rows: int) -> Chunks:
        """All chunks of the shard's own rows."""
        return self._encode(own_rows, range(chunk_count(own_rows)), range(chunk_count(own_rows)))

    def changes(self, own_rows: int) -> Chunks:
        """The chunks that changed since `settled`."""
        return self._encode(own_rows, self._dirty_sums(own_rows), self._dirty_names(own_rows))

    def settled(self, own_rows: int) -> None:
        """What changed is safe."""
        self.shard.dirty[:] = 0
        self._settled_rows = own_rows

    def dirty_bytes(self, own_rows: int) -> int:
        """About how large `changes` would be."""
        sums = 8 * self.width * CHUNK_ROWS * len(self._dirty_sums(own_rows))
        mean_name = int(self.words.starts[self.size]) // max(self.size, 1) + 2
        return sums + mean_name * CHUNK_ROWS * len(self._dirty_names(own_rows))

    def restore(self, decoded: RowChunks, own_rows: int) -> None:
        """Take the rows of a parsed shard, in order; this table is still empty."""
        for number in range(chunk_count(own_rows)):
            if number not in decoded.sums or number not in decoded.names:
                raise CorruptState(f"chunk {number} of the shard's rows is missing")
            self._restore_chunk(number * CHUNK_ROWS, decoded.sums[number], decoded.names[number])
        self._settled_rows = own_rows

    def _restore_chunk(self, first: int, sums: F64, names: NameChunk) -> None:
        expected = np.arange(first, first + len(sums))
        if not np.array_equal(self.know(names), expected):
            raise CorruptState("a name occurs twice in the shard's rows, or they are more than max_names")
        self.shard.own[expected] = sums
        if self.shared:
            self.shard.own_row[expected] = expected
            self.shard.own_order[expected] = expected

    def _dirty_sums(self, own_rows: int) -> list[int]:
        return [int(number) for number in np.flatnonzero(self.shard.dirty[: chunk_count(own_rows)])]

    def _dirty_names(self, own_rows: int) -> range:
        last = chunk_count(own_rows) if own_rows > self._settled_rows else 0
        return range(self._settled_rows // CHUNK_ROWS, last)

    def _encode(self, own_rows: int, sums: Sequence[int], names: range) -> Chunks:
        chunks = {f"s:{number}": encode_sums(self.shard.own[self._view(number, own_rows)]) for number in sums}
        chunks |= {f"n:{number}": self._encode_names(self._view(number, own_rows)) for number in names}
        return chunks

    def _view(self, number: int, own_rows: int) -> I64:
        """Where the own rows of a chunk lie in the table."""
        first = number * CHUNK_ROWS
        last = min(first + CHUNK_ROWS, own_rows)
        return self.shard.own_order[first:last].astype(np.int64) if self.shared else np.arange(first, last)

    def _encode_names(self, view: I64) -> bytes:
        starts, ends = self.words.starts[view], self.words.starts[view + 1]
        return encode_names(ends - starts, gathered(self.words.arena, starts, ends - starts))


def gathered(arena: U8, starts: I64, lengths: I64) -> U8:
    """Pieces of the arena, end to end."""
    offsets = np.repeat(starts - (np.cumsum(lengths) - lengths), lengths)
    return arena[offsets + np.arange(len(offsets))]


def enlarged(array: Array, length: int, used: int) -> Array:
    """A longer copy; what is not used yet is not touched, so that its pages stay unmapped."""
    longer: Array = np.zeros((length, *array.shape[1:]), array.dtype)  # type: ignore[assignment]
    longer[:used] = array[:used]
    return longer


def at_least(array: Array, length: int) -> Array:
    """The array itself if it is long enough, else a longer copy."""
    return enlarged(array, length, len(array)) if len(array) < length else array
