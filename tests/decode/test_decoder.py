"""What holds for every format."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsieve.batch import Reason
from streamsieve.decode.decoder import PARSERS
from streamsieve.errors import BadSpec
from streamsieve.spec import FORMATS
from tests.decode.unpacked import KEY, Plain, decoder, name_of, only_reject, only_sample, plain_records, plain_samples
from tests.twins.siphash import siphash13

JSON = b'{"y": 1, "x": {"a": 1}}'
SAME_SAMPLE = {
    "application/json": JSON,
    "application/x-ndjson": JSON + b"\n",
    "text/x-vw": b"1 | a",
    "text/x-libsvm": b"1 7:1",
}

values = st.floats(-1000, 1000)
labels = st.sampled_from([-1.0, 1.0])
weights = st.floats(1e-3, 1e3)
any_names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
word_names = st.text(st.characters(exclude_categories=["Cs"], exclude_characters=" \t\r\n|:"), min_size=1, max_size=20)
digit_names = st.integers(0, 10**9).map(str)


def plain(names):
    features = st.dictionaries(names, values, max_size=8).map(lambda found: list(found.items()))
    return st.builds(Plain, features, labels, weights)


def json_of(sample, shape):
    names, numbers = [name for name, _ in sample.features], [value for _, value in sample.features]
    bodies = {
        "x": {"x": dict(sample.features)},
        "f": {"f": names, "v": numbers},
        "xf": {"x": {"f": names, "v": numbers}},
    }
    return {"id": 3, "y": sample.label, "w": sample.weight, **bodies[shape]}


def spelled(features):
    return " ".join(f"{name}:{value!r}" for name, value in features)


@settings(deadline=None)
@given(plain(any_names), st.sampled_from(["x", "f", "xf"]), st.booleans())
def test_json_round_trip(sample, shape, escaped):
    value = json.dumps(json_of(sample, shape), ensure_ascii=escaped).encode()
    assert only_sample(decoder("json").decode([value])) == sample


@settings(deadline=None)
@given(st.lists(plain(any_names), min_size=1, max_size=5))
def test_ndjson_round_trip(samples):
    value = "\n".join(json.dumps(json_of(sample, "x")) for sample in samples).encode()
    assert plain_records(decoder("ndjson").decode([value]).batch) == [samples]


@settings(deadline=None)
@given(plain(word_names))
def test_vw_round_trip(sample):
    value = f"{sample.label} {sample.weight!r} | {spelled(sample.features)}".encode()
    assert only_sample(decoder("vw").decode([value])) == sample


@settings(deadline=None)
@given(plain(digit_names))
def test_libsvm_round_trip(sample):
    value = f"{sample.label} {spelled(sample.features)}".encode()
    assert only_sample(decoder("libsvm").decode([value])) == sample._replace(weight=1.0)


fragments = st.sampled_from([
    b"1", b"-1", b" ", b"|", b":", b"a", b"\n", b'"', b"\\", b"{", b"}", b"[", b"]", b",", b'{"y":1,"x":', b"nan", b"'",
    b"1e999", b"NaN", b"\xff", b"\xed\xa0\x80", b"\\ud800", b"#", b"7:", JSON, b"1 | a:2 b", b"+1 3:0.5",
])  # fmt: skip
scraps = st.lists(fragments, max_size=12).map(b"".join)
anything = st.none() | st.binary(max_size=60) | scraps
any_types = st.none() | st.sampled_from([*SAME_SAMPLE, "", "text/plain", "x\r\ny"])
records = st.lists(st.tuples(anything, any_types), max_size=8)


@settings(deadline=None, max_examples=300)
@given(st.sampled_from(sorted(PARSERS)), records)
def test_whatever_comes_is_accepted_or_refused_and_never_raises(default, given_records):
    decoded = decoder(default).decode([value for value, _ in given_records], [kind for _, kind in given_records])
    refused = [reject.record for reject in decoded.rejects]
    assert sorted([*decoded.positions, *refused]) == list(range(len(given_records)))
    assert refused == sorted(refused)
    assert list(decoded.positions) == sorted(decoded.positions)
    assert decoded.batch.record_count == len(decoded.positions)
    for reject in decoded.rejects:
        assert isinstance(reject.reason, Reason)
        assert 0 < len(reject.detail) <= 200
        assert reject.detail.isascii()
        assert reject.detail.isprintable()


@settings(deadline=None, max_examples=200)
@given(st.sampled_from(sorted(PARSERS)), records)
def test_a_list_decodes_to_what_its_records_decode_to_one_by_one(default, given_records):
    together = decoder(default).decode([value for value, _ in given_records], [kind for _, kind in given_records])
    singly = [decoder(default).decode([value], [kind]) for value, kind in given_records]
    assert plain_records(together.batch) == [record for one in singly for record in plain_records(one.batch)]
    assert [reject[1:] for reject in together.rejects] == [reject[1:] for one in singly for reject in one.rejects]
    np.testing.assert_array_equal(together.batch.hashes, np.concatenate([[], *(one.batch.hashes for one in singly)]))


@settings(deadline=None)
@given(st.lists(st.tuples(st.sampled_from("abcde"), values), max_size=30))
def test_equal_names_add_up_where_the_first_stands(features):
    sums: dict[str, float] = {}
    for name, value in features:
        sums[name] = sums.get(name, 0.0) + value
    record = json.dumps({"y": 1, "f": [name for name, _ in features], "v": [value for _, value in features]}).encode()
    batch = decoder("json").decode([JSON, record, JSON]).batch
    assert [dict(sample.features) for sample in plain_samples(batch)] == [{"a": 1.0}, sums, {"a": 1.0}]
    assert [name for name, _ in plain_samples(batch)[1].features] == list(sums)


def test_hashes_are_those_of_the_names_under_the_key():
    batch = decoder("json").decode([json.dumps({"y": 1, "x": ["a", "né", "a", "x" * 200]}).encode()]).batch
    names = [name_of(batch, entry) for entry in range(len(batch.hashes))]
    assert [int(value) for value in batch.hashes] == [siphash13(KEY, name.encode()) for name in names]


def test_zeros_have_no_sign():
    """Parsers differ on "-0", and states are compared by their bits."""
    decoded = decoder("json").decode([b'{"y": 1, "x": {"a": -0.0, "b": -0}}', b'{"y": 1, "x": {"a": -0.0, "a": -0}}'])
    assert not np.signbit(decoded.batch.values).any()


def test_nothing_given_is_an_empty_batch():
    decoded = decoder("json").decode([])
    assert (decoded.batch.record_count, decoded.batch.sample_count, len(decoded.batch.values)) == (0, 0, 0)
    assert decoded.rejects == []


def test_arrays_have_the_types_that_kernels_were_compiled_for():
    for given_values in ([], [JSON], [JSON, b'{"y": 1, "x": ["a", "a"]}']):
        batch = decoder("json").decode(given_values).batch
        kinds = [array.dtype.name for array in batch]
        assert kinds == [
            "int64",
            "int64",
            "uint64",
            "float64",
            "float64",
            "float64",
            "uint8",
            "int64",
            "int32",
            "uint8",
            "int64",
        ]
        assert all(array.flags.c_contiguous and array.flags.writeable for array in batch)


@pytest.mark.parametrize("content_type", SAME_SAMPLE)
@pytest.mark.parametrize("written", ["{}", "{}; charset=utf-8", " {} ;x"])
def test_the_content_type_goes_before_the_default_format(content_type, written):
    for default in PARSERS:
        for spelling in (written.format(content_type), written.format(content_type).upper()):
            decoded = decoder(default).decode([SAME_SAMPLE[content_type]], [spelling])
            assert only_sample(decoded).label == 1.0


@pytest.mark.parametrize("content_type", ["", "text/plain", "application/jsonx", "text/x-vw, text/x-vw", "\n\x00é"])
def test_an_unknown_content_type_is_refused(content_type):
    reason, detail = only_reject(decoder("json").decode([JSON], [content_type]))
    assert reason == Reason.CONTENT_TYPE
    assert detail == f"no decoder for {content_type!a}"


def test_no_value_is_refused_whatever_its_type():
    assert only_reject(decoder("json").decode([None]))[0] == Reason.NULL
    assert only_reject(decoder("json").decode([None], ["text/plain"]))[0] == Reason.NULL


@pytest.mark.parametrize("default", PARSERS)
def test_a_large_record_is_refused_before_it_is_parsed(default):
    assert only_reject(decoder(default, max_record_bytes=10).decode([b"[" * 11]))[0] == Reason.TOO_LARGE
    assert only_reject(decoder(default, max_record_bytes=10).decode([b"[" * 10]))[0] != Reason.TOO_LARGE


def test_details_show_strange_bytes_escaped_and_cut():
    _, detail = only_reject(decoder("vw").decode([b"1 | " + b"\x1b[31m\xc3\xa9\xff" * 100 + b":x"]))
    assert detail.startswith("'x' is no number")
    _, detail = only_reject(decoder("vw").decode([b"1 | a:\x1b[31m" + "é\u2028".encode() * 100]))
    assert detail.startswith(r"'\x1b[31m\xe9\u2028")
    assert len(detail) <= 200


def test_positions_tell_where_accepted_records_stood():
    decoded = decoder("json").decode([b"", JSON, None, JSON, b"{}"])
    assert decoded.positions.tolist() == [1, 3]
    assert [(reject.record, reject.reason) for reject in decoded.rejects] == [
        (0, Reason.SYNTAX), (2, Reason.NULL), (4, Reason.LABEL),
    ]  # fmt: skip


def test_as_many_content_types_as_values():
    with pytest.raises(ValueError, match="zip"):
        decoder("json").decode([JSON, JSON], [None])


def test_every_format_of_a_spec_has_a_parser():
    assert set(FORMATS) == set(PARSERS)


def test_a_decoder_checks_what_it_is_made_with():
    with pytest.raises(BadSpec, match="format"):
        decoder("xml")
    with pytest.raises(BadSpec, match="labels"):
        decoder("json", "colour")
