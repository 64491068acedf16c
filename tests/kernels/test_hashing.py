import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsieve.kernels.hashing import hash_names, key_words
from tests.twins.siphash import siphash13

KEY = bytes(range(16))


def hashed(key: bytes, names: list[bytes]) -> list[int]:
    lengths = np.array([len(name) for name in names], np.int32)
    starts = np.cumsum(lengths, dtype=np.int64) - lengths
    text = np.frombuffer(bytearray().join(names), np.uint8)
    return [int(value) for value in hash_names(text, starts, lengths, key_words(key))]


def test_published_vector_of_the_empty_message():
    assert hashed(KEY, [b""]) == [0xABAC0158050FC4DC]
    assert siphash13(KEY, b"") == 0xABAC0158050FC4DC


def test_every_length_up_to_three_words_agrees_with_the_twin():
    names = [bytes(range(length)) for length in range(25)]
    assert hashed(KEY, names) == [siphash13(KEY, name) for name in names]


@settings(deadline=None)
@given(st.binary(min_size=16, max_size=16), st.lists(st.binary(max_size=300), max_size=8))
def test_agrees_with_the_twin(key, names):
    assert hashed(key, names) == [siphash13(key, name) for name in names]


def test_the_compiled_leg_was_compiled():
    hashed(KEY, [b"free"])
    assert hash_names.signatures


def test_another_key_gives_another_hash():
    assert hashed(KEY, [b"free"]) != hashed(bytes(16), [b"free"])


def test_a_short_key_is_refused():
    with pytest.raises(ValueError, match="buffer"):
        key_words(b"short")
