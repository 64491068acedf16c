"""SipHash-1-3 as its paper writes it, in whole numbers of any size: slow and obvious."""

WORD = 2**64 - 1


def rotated(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (64 - bits))) & WORD


def sip_round(v: list[int]) -> None:
    v[0] = (v[0] + v[1]) & WORD
    v[2] = (v[2] + v[3]) & WORD
    v[1] = rotated(v[1], 13) ^ v[0]
    v[3] = rotated(v[3], 16) ^ v[2]
    v[0] = rotated(v[0], 32)
    v[2] = (v[2] + v[1]) & WORD
    v[0] = (v[0] + v[3]) & WORD
    v[1] = rotated(v[1], 17) ^ v[2]
    v[3] = rotated(v[3], 21) ^ v[0]
    v[2] = rotated(v[2], 32)


def siphash13(key: bytes, message: bytes) -> int:
    key0, key1 = (int.from_bytes(half, "little") for half in (key[:8], key[8:]))
    v = [key0 ^ 0x736F6D6570736575, key1 ^ 0x646F72616E646F6D, key0 ^ 0x6C7967656E657261, key1 ^ 0x7465646279746573]
    whole = len(message) // 8 * 8
    words = [int.from_bytes(message[at : at + 8], "little") for at in range(0, whole, 8)]
    words.append(int.from_bytes(message[whole:], "little") | (len(message) & 0xFF) << 56)
    for word in words:
        v[3] ^= word
        sip_round(v)
        v[0] ^= word
    v[2] ^= 0xFF
    for _ in range(3):
        sip_round(v)
    return v[0] ^ v[1] ^ v[2] ^ v[3]
