"""A shard's whole state as one string of bytes: versioned, checksummed, the same for the same state.

Layout, little-endian: magic, version, length and text of the algorithm's name, count of chunks, then for each chunk
in order of its id: length and text of the id, length and bytes; at the end the CRC-32 of all before.
"""

import hashlib
import struct
import zlib
from collections.abc import Mapping

from streamsieve.errors import CorruptState

MAGIC = b"SIEVE\0"
VERSION = 1
HEADER = struct.Struct("<6sH")
LENGTH = struct.Struct("<I")


def canonical(algorithm: str, chunks: Mapping[str, bytes]) -> bytes:
    """The canonical bytes of a state.

    >>> parse_canonical(canonical("b-arda", {"head": b"abc"}))
    ('b-arda', {'head': b'abc'})
    """
    parts = [HEADER.pack(MAGIC, VERSION), *_sized(algorithm.encode()), LENGTH.pack(len(chunks))]
    for chunk_id in sorted(chunks):
        parts += [*_sized(chunk_id.encode()), *_sized(chunks[chunk_id])]
    body = b"".join(parts)
    return body + LENGTH.pack(zlib.crc32(body))


def fingerprint(algorithm: str, chunks: Mapping[str, bytes]) -> str:
    """SHA-256 of the canonical bytes, in hex: equal for equal states."""
    return hashlib.sha256(canonical(algorithm, chunks)).hexdigest()


def parse_canonical(data: bytes) -> tuple[str, dict[str, bytes]]:
    """The algorithm and its chunks. Raises CorruptState.

    >>> parse_canonical(b"something else")
    Traceback (most recent call last):
    streamsieve.errors.CorruptState: not a snapshot of StreamSieve
    """
    if data[: len(MAGIC)] != MAGIC or len(data) < HEADER.size + LENGTH.size:
        raise CorruptState("not a snapshot of StreamSieve")
    version = HEADER.unpack_from(data)[1]
    if version != VERSION:
        raise CorruptState(f"snapshot of version {version}; this program reads version {VERSION}")
    body = data[: -LENGTH.size]
    if LENGTH.pack(zlib.crc32(body)) != data[-LENGTH.size :]:
        raise CorruptState("the snapshot's checksum does not fit: it was cut or changed")
    return _parsed(body)


def _sized(data: bytes) -> tuple[bytes, bytes]:
    return LENGTH.pack(len(data)), data


def _parsed(body: bytes) -> tuple[str, dict[str, bytes]]:
    try:
        algorithm, at = _take(body, HEADER.size)
        (count,) = LENGTH.unpack_from(body, at)
        at += LENGTH.size
        chunks = {}
        for _ in range(count):
            chunk_id, at = _take(body, at)
            chunks[chunk_id.decode()], at = _take(body, at)
        name = algorithm.decode()
    except (struct.error, UnicodeDecodeError) as error:
        raise CorruptState(f"the snapshot's layout is broken: {error}") from error
    if at != len(body):
        raise CorruptState("the snapshot has bytes after its end")
    return name, chunks


def _take(body: bytes, at: int) -> tuple[bytes, int]:
    (length,) = LENGTH.unpack_from(body, at)
    end = at + LENGTH.size + length
    if end > len(body):
        raise CorruptState("the snapshot ends too soon")
    return body[at + LENGTH.size : end], end
