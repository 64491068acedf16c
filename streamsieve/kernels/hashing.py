"""SipHash-1-3: names come from strangers, so their hash is keyed and its collisions can't be made at will."""

import numpy as np

from streamsieve.batch import I32, I64, U8, U64
from streamsieve.kernels.compiler import kernel

C0 = np.uint64(0x736F6D6570736575)
C1 = np.uint64(0x646F72616E646F6D)
C2 = np.uint64(0x6C7967656E657261)
C3 = np.uint64(0x7465646279746573)
FF = np.uint64(0xFF)
EIGHT = np.uint64(8)
S13, S16, S17, S21, S32 = (np.uint64(bits) for bits in (13, 16, 17, 21, 32))
L13, L16, L17, L21 = (np.uint64(64 - bits) for bits in (13, 16, 17, 21))


@kernel
def sip_round(v0: np.uint64, v1: np.uint64, v2: np.uint64, v3: np.uint64) -> tuple[np.uint64, ...]:
    """One SipRound."""
    v0 += v1
    v1 = (v1 << S13) | (v1 >> L13)
    v1 ^= v0
    v0 = (v0 << S32) | (v0 >> S32)
    v2 += v3
    v3 = (v3 << S16) | (v3 >> L16)
    v3 ^= v2
    v0 += v3
    v3 = (v3 << S21) | (v3 >> L21)
    v3 ^= v0
    v2 += v1
    v1 = (v1 << S17) | (v1 >> L17)
    v1 ^= v2
    v2 = (v2 << S32) | (v2 >> S32)
    return v0, v1, v2, v3


@kernel
def hash_name(text: U8, start: int, length: int, key0: np.uint64, key1: np.uint64) -> np.uint64:
    """SipHash-1-3 of text[start:start + length]."""
    v0, v1, v2, v3 = key0 ^ C0, key1 ^ C1, key0 ^ C2, key1 ^ C3
    whole = length - length % 8
    for at in range(start, start + whole, 8):
        word = np.uint64(0)
        for byte in range(8):
            word |= np.uint64(text[at + byte]) << np.uint64(8 * byte)
        v3 ^= word
        v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
        v0 ^= word
    word = np.uint64(length & 255) << np.uint64(56)
    for byte in range(length - whole):
        word |= np.uint64(text[start + whole + byte]) << np.uint64(8 * byte)
    v3 ^= word
    v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
    v0 ^= word
    v2 ^= FF
    for _ in range(3):
        v0, v1, v2, v3 = sip_round(v0, v1, v2, v3)
    return v0 ^ v1 ^ v2 ^ v3


@kernel
def hash_names(text: U8, starts: I64, lengths: I32, key: U64) -> U64:
    """Hash each name where it lies; key is two words."""
    hashes = np.empty(len(starts), np.uint64)
    for entry in range(len(starts)):
        hashes[entry] = hash_name(text, starts[entry], lengths[entry], key[0], key[1])
    return hashes


def key_words(key: bytes) -> U64:
    """The deployment's 16 secret bytes as the two words that kernels take."""
    return np.frombuffer(key, "<u8", 2).astype(np.uint64)
