"""MISSION's chunks: `head`; `s:<i>`, 16 KiB of sketch cells; `w:<i>` and `n:<i>`, weights and names of 1,024 members.

Pieces of the sketch are numbered class after class; those never written to are left out. A member keeps its place
until another drives it out, so a chunk changes only where the set does. Cells depend on the hash key, which the head
therefore identifies: this is the one learner whose bytes are bound to the deployment's key.
"""

import struct
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from streamsieve.batch import F64, I64
from streamsieve.errors import CorruptState
from streamsieve.kernels.hashing import hash_names, key_words
from streamsieve.kernels.progress import BINS
from streamsieve.kernels.sketch import F32, PIECE
from streamsieve.learners.sample_stream.row_chunks import CHUNK_ROWS, NameChunk, decode_names, parse_id

VERSION = 1
# version, depth, width, samples, correct predictions, classes, named classes, members, entered; key id; sum of losses
LAYOUT = struct.Struct("<9qQd")
HISTOGRAM_BYTES = 2 * BINS * 8
KEY_MARK = np.frombuffer(b"which key?", np.uint8)


class Shape(NamedTuple):
    """What a shard must share with its peers and its past."""

    depth: int
    width: int
    key_id: int

    @property
    def cells(self) -> int:
        """Cells a class."""
        return self.depth * self.width

    @property
    def pieces(self) -> int:
        """Pieces a class."""
        return -(-self.cells // PIECE)


class Summary(NamedTuple):
    """The head as values. `classes` has the names; losses that name none have one class all the same."""

    samples: int
    correct: int
    members: int
    entered: int
    losses: float
    histogram: I64
    intercepts: F64
    classes: list[str]


class Parsed(NamedTuple):
    """A shard's chunks, checked: pieces of cells, members' entries and weights, members' names, by chunk number."""

    head: Summary
    cells: dict[int, F32]
    weights: dict[int, tuple[I64, F64]]
    names: dict[int, NameChunk]


def key_id(hash_key: bytes) -> int:
    """A number that tells keys apart and tells nothing of them."""
    where = np.zeros(1, np.int64), np.array([len(KEY_MARK)], np.int32)
    return int(hash_names(KEY_MARK.copy(), *where, key_words(hash_key))[0])


def encode_head(shape: Shape, head: Summary) -> bytes:
    """The bytes of a head."""
    names = [name.encode() for name in head.classes]
    counts = (head.samples, head.correct, len(head.intercepts), len(names), head.members, head.entered)
    fixed = LAYOUT.pack(VERSION, shape.depth, shape.width, *counts, shape.key_id, head.losses)
    lengths = np.array([len(name) for name in names], "<u2").tobytes()
    return b"".join(
        [fixed, head.histogram.astype("<i8").tobytes(), head.intercepts.astype("<f8").tobytes(), lengths, *names]
    )


def encode_weights(entries: I64, weights: F64) -> bytes:
    """When each member entered, then its weights."""
    return entries.astype("<i8").tobytes() + weights.astype("<f8").tobytes()


def decode_head(data: bytes, shape: Shape) -> Summary:
    """A head from its bytes. Raises CorruptState, also where another key or shape of sketch made it."""
    if len(data) < LAYOUT.size:
        raise CorruptState(f"chunk head has only {len(data)} bytes")
    version, depth, width, samples, correct, classes, named, members, entered, key, losses = LAYOUT.unpack_from(data)
    if version != VERSION:
        raise CorruptState(f"chunk head is of version {version}; this program reads version {VERSION}")
    if (depth, width) != (shape.depth, shape.width):
        raise CorruptState(f"the sketch is {depth} x {width}, not {shape.depth} x {shape.width}")
    if key != shape.key_id:
        raise CorruptState("the sketch was made with another hash key")
    fixed = LAYOUT.size + HISTOGRAM_BYTES
    if min(samples, correct, classes, named, members) < 0 or entered < members or len(data) < fixed + 8 * classes:
        raise CorruptState("chunk head counts what can't be")
    histogram = np.frombuffer(data, "<i8", 2 * BINS, LAYOUT.size).astype(np.int64).reshape(2, BINS)
    intercepts = np.frombuffer(data, "<f8", classes, fixed).astype(np.float64)
    names = _class_names(data[fixed + 8 * classes :], named)
    head = Summary(samples, correct, members, entered, losses, histogram, intercepts, names)
    _check(head, classes)
    return head


def _class_names(data: bytes, count: int) -> list[str]:
    names = decode_names("head", data, count)
    return [
        data[2 * count :][begin : begin + size].decode()
        for begin, size in zip(names.starts, names.lengths, strict=True)
    ]


def _check(head: Summary, classes: int) -> None:
    if head.correct > head.samples or (head.histogram < 0).any() or len(set(head.classes)) != len(head.classes):
        raise CorruptState("chunk head counts what can't be")
    if len(head.classes) not in (0, classes) or not (np.isfinite(head.intercepts).all() and np.isfinite(head.losses)):
        raise CorruptState("chunk head holds what can't be")


def parse(chunks: Mapping[str, bytes], shape: Shape) -> Parsed:
    """Check and parse chunks, some or all. Raises CorruptState."""
    if "head" not in chunks:
        raise CorruptState("chunk head is missing")
    head = decode_head(chunks["head"], shape)
    parsed = Parsed(head, {}, {}, {})
    for chunk_id, data in chunks.items():
        if chunk_id == "head":
            continue
        kind, number = parse_id(chunk_id, ("s", "w", "n"))
        if kind == "s":
            parsed.cells[number] = _decode_cells(chunk_id, data, number, len(head.intercepts), shape)
            continue
        count = min(CHUNK_ROWS, head.members - number * CHUNK_ROWS)
        if count <= 0:
            raise CorruptState(f"chunk {chunk_id} lies past the {head.members} members of its shard")
        if kind == "n":
            parsed.names[number] = decode_names(chunk_id, data, count)
        else:
            parsed.weights[number] = _decode_weights(chunk_id, data, count, head)
    return parsed


def _decode_cells(chunk_id: str, data: bytes, number: int, classes: int, shape: Shape) -> F32:
    if number >= classes * shape.pieces:
        raise CorruptState(f"chunk {chunk_id} lies past the sketch")
    expected = 4 * min(PIECE, shape.cells - number % shape.pieces * PIECE)
    if len(data) != expected:
        raise CorruptState(f"chunk {chunk_id} has {len(data)} bytes, not {expected}")
    cells = np.frombuffer(data, "<f4").astype(np.float32)
    if not np.isfinite(cells).all():
        raise CorruptState(f"chunk {chunk_id} holds a number that is not finite")
    return cells


def _decode_weights(chunk_id: str, data: bytes, count: int, head: Summary) -> tuple[I64, F64]:
    classes = len(head.intercepts)
    if len(data) != 8 * count * (1 + classes):
        raise CorruptState(f"chunk {chunk_id} has {len(data)} bytes, not {8 * count * (1 + classes)}")
    entries = np.frombuffer(data, "<i8", count).astype(np.int64)
    weights = np.frombuffer(data, "<f8", offset=8 * count).astype(np.float64).reshape(count, classes)
    if not np.isfinite(weights).all() or (entries < 0).any() or (entries >= head.entered).any():
        raise CorruptState(f"chunk {chunk_id} holds what can't be")
    return entries, weights
