"""How rows become chunks and chunks become rows: the one codec of every row-wise learner.

`s:<i>` holds the sums of rows 1024 i and on, little-endian float64, row after row; `n:<i>` the names of the same rows,
16-bit lengths first, then the text. Both are trimmed to the rows that exist.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from streamsieve.batch import F64, I32, I64, U8
from streamsieve.errors import CorruptState

CHUNK_ROWS = 1024


class NameChunk(NamedTuple):
    """Names of consecutive rows, as text and where each starts in it."""

    text: U8
    starts: I64
    lengths: I32


class RowChunks(NamedTuple):
    """What arrived, by chunk number, checked against the row count."""

    sums: dict[int, F64]
    names: dict[int, NameChunk]


def chunk_count(rows: int) -> int:
    """How many chunks so many rows fill."""
    return -(-rows // CHUNK_ROWS)


def encode_sums(sums: F64) -> bytes:
    """The sums of a chunk's rows."""
    return sums.astype("<f8", copy=False).tobytes()


def encode_names(lengths: I64, text: U8) -> bytes:
    """The names of a chunk's rows, their text end to end."""
    return lengths.astype("<u2").tobytes() + text.tobytes()


def decode_rows(chunks: Mapping[str, bytes], rows: int, width: int) -> RowChunks:
    """Parse all `s:` and `n:` chunks of a shard of so many rows. Raises CorruptState; `head` is the caller's."""
    decoded = RowChunks({}, {})
    for chunk_id, data in chunks.items():
        if chunk_id == "head":
            continue
        kind, number = parse_id(chunk_id)
        count = min(CHUNK_ROWS, rows - number * CHUNK_ROWS)
        if count <= 0:
            raise CorruptState(f"chunk {chunk_id} lies past the {rows} rows of its shard")
        if kind == "s":
            decoded.sums[number] = _decode_sums(chunk_id, data, count, width)
        else:
            decoded.names[number] = decode_names(chunk_id, data, count)
    return decoded


def parse_id(chunk_id: str, kinds: tuple[str, ...] = ("s", "n")) -> tuple[str, int]:
    """The kind and number that a chunk's id spells. Raises CorruptState."""
    kind, _, number = chunk_id.partition(":")
    if kind not in kinds or not (number.isascii() and number.isdigit()):
        raise CorruptState(f"unknown chunk {chunk_id!r}")
    return kind, int(number)


def _decode_sums(chunk_id: str, data: bytes, count: int, width: int) -> F64:
    if len(data) != 8 * count * width:
        raise CorruptState(f"chunk {chunk_id} has {len(data)} bytes, not {8 * count * width}")
    sums = np.frombuffer(data, "<f8").astype(np.float64).reshape(count, width)
    if not np.isfinite(sums).all():
        raise CorruptState(f"chunk {chunk_id} holds a number that is not finite")
    return sums


def decode_names(chunk_id: str, data: bytes, count: int) -> NameChunk:
    """The names in a chunk that must hold so many. Raises CorruptState."""
    lengths = np.frombuffer(data[: 2 * count], "<u2").astype(np.int32) if len(data) >= 2 * count else None
    if lengths is None or len(data) != 2 * count + int(lengths.sum()):
        raise CorruptState(f"chunk {chunk_id} does not hold {count} names")
    text = np.frombuffer(data, np.uint8, offset=2 * count).copy()
    starts = np.zeros(count, np.int64)
    np.cumsum(lengths[:-1], out=starts[1:])
    _check_text(chunk_id, data[2 * count :], text, starts, lengths)
    return NameChunk(text, starts, lengths)


def _check_text(chunk_id: str, data: bytes, text: U8, starts: I64, lengths: I32) -> None:
    """Valid UTF-8 as a whole, and cut between characters: then each name is valid."""
    try:
        data.decode()
    except UnicodeDecodeError as error:
        raise CorruptState(f"chunk {chunk_id} holds text that is not UTF-8") from error
    if (lengths == 0).any() or ((text[starts] & 0xC0) == 0x80).any():
        raise CorruptState(f"chunk {chunk_id} holds a name that is empty or cut inside a character")
