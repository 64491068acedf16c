"""Chunks as Redis keeps them: four bytes of CRC-32, then the bytes."""

import struct
import zlib
from collections.abc import Mapping

from streamsieve.errors import CorruptState

CHECKSUM = struct.Struct("<I")


def pack(chunk: str, content: bytes) -> bytes:
    """Put the checksum in front. It covers the chunk's id, so that a chunk under another's id is found out too.

    >>> unpack("s:0", pack("s:0", b"abc"))
    b'abc'
    """
    return CHECKSUM.pack(_checksum(chunk, content)) + content


def unpack(chunk: str, packed: bytes) -> bytes:
    """Check and take the checksum off; raises CorruptState.

    >>> unpack("s:1", pack("s:0", b"abc"))
    Traceback (most recent call last):
    streamsieve.errors.CorruptState: chunk s:1 fails its checksum
    """
    content = packed[CHECKSUM.size :]
    if packed[: CHECKSUM.size] != CHECKSUM.pack(_checksum(chunk, content)):
        raise CorruptState(f"chunk {chunk} fails its checksum")
    return content


def unpack_all(packed: Mapping[bytes, bytes]) -> dict[str, bytes]:
    """A hash as Redis gives it, as chunks by id; raises CorruptState."""
    named = {chunk.decode(errors="replace"): content for chunk, content in packed.items()}
    return {chunk: unpack(chunk, content) for chunk, content in named.items()}


def _checksum(chunk: str, content: bytes) -> int:
    return zlib.crc32(content, zlib.crc32(chunk.encode()))
