import json

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamsieve.batch import Reason
from streamsieve.decode.json_samples import check_depth, outline, parse_fully, parse_quickly
from streamsieve.decode.refusal import Refusal
from streamsieve.decode.samples import Rules
from streamsieve.limits import Limits
from tests.decode.unpacked import decoder, only_reject, only_sample

REAL = Rules("real", Limits())

ACCEPTED = [
    ('{"y": 1, "x": {"tok:free": 1.0, "len": 0.3}}', [("tok:free", 1.0), ("len", 0.3)], 1.0, 1.0),
    ('{"y": -1, "x": ["a", "b"]}', [("a", 1.0), ("b", 1.0)], -1.0, 1.0),
    ('{"y": 0, "f": ["a", "b"], "v": [2, 0.5]}', [("a", 2.0), ("b", 0.5)], -1.0, 1.0),
    ('{"y": 1.0, "x": {"f": ["a"], "v": [2]}}', [("a", 2.0)], 1.0, 1.0),
    ('{"y": 1, "x": {"f": 3, "v": 4}}', [("f", 3.0), ("v", 4.0)], 1.0, 1.0),
    ('{"y": 1, "x": {}}', [], 1.0, 1.0),
    ('{"y": 1, "x": []}', [], 1.0, 1.0),
    ('{"y": 1, "f": [], "v": []}', [], 1.0, 1.0),
    ('{"y": 1, "x": {"a": 1}, "w": 2.5}', [("a", 1.0)], 1.0, 2.5),
    ('{"y": 1, "x": {"a": 1}, "w": null, "f": null}', [("a", 1.0)], 1.0, 1.0),
    ('{"y": 1, "x": null, "f": ["a"], "v": [1]}', [("a", 1.0)], 1.0, 1.0),
    ('{"id": "7", "ts": 3, "seq": "s", "y": 1, "x": {"a": 1}, "other": [{"k": null}]}', [("a", 1.0)], 1.0, 1.0),
    ('{"y": 1, "x": {"a": 1}, "f": 3, "v": "2"}', [("a", 1.0)], 1.0, 1.0),  # x wins, f and v are any stranger's keys
    ('{"y": 1, "x": {"a": 1, "b": 5, "a": 2.5}}', [("a", 3.5), ("b", 5.0)], 1.0, 1.0),
    ('{"y": 1, "x": {"\\u0061": 1, "a": 2, "\\u003a": 4}}', [("a", 3.0), (":", 4.0)], 1.0, 1.0),
    ('{"y": 1, "x": ["a", "b", "a"]}', [("a", 2.0), ("b", 1.0)], 1.0, 1.0),
    ('{"y": 1, "f": ["a", "a"], "v": [1, -1]}', [("a", 0.0)], 1.0, 1.0),
    ('{"y": 1, "x": {"a": 0, "b": -0}}', [("a", 0.0), ("b", 0.0)], 1.0, 1.0),  # a zero was seen
    ('{"y": -1, "y": 1, "x": {"b": 1}, "x": {"a": 1}}', [("a", 1.0)], 1.0, 1.0),
    ('{"y": 1, "x": {"café": 1, "\\ud83d\\ude00": 2}}', [("café", 1.0), ("\U0001f600", 2.0)], 1.0, 1.0),
    ('{"y": 1, "x": {"a": 1000000, "b": -1e6}}', [("a", 1e6), ("b", -1e6)], 1.0, 1.0),
    ('{"y": 1, "x": {"a": 1e6, "a": -1e6, "a": 5}}', [("a", 5.0)], 1.0, 1.0),
    ('{"y": 1, "x": {"a": 1}, "big": 1e400, "bigger": ' + "9" * 5000 + "}", [("a", 1.0)], 1.0, 1.0),
    ('{"y": 1, "x": {"a{[": 1, "b\\"{{{{{{{{{": 2}}', [("a{[", 1.0), ('b"{{{{{{{{{', 2.0)], 1.0, 1.0),
    (' {"y":1,\r\n"x":{"a":1}}\n', [("a", 1.0)], 1.0, 1.0),
]

REFUSED = [
    ("", Reason.SYNTAX),
    ("{", Reason.SYNTAX),
    ("[]", Reason.SYNTAX),
    ("1", Reason.SYNTAX),
    ("null", Reason.SYNTAX),
    ('{"y": 1, "x": {"a": 1}} x', Reason.SYNTAX),
    ('{"y": 1, "x": {"a": 01}}', Reason.SYNTAX),
    ('{"y": 1, "x": {"a\n": 1}}', Reason.SYNTAX),
    ('\ufeff{"y": 1, "x": {"a": 1}}', Reason.SYNTAX),
    ('{"y": 1}', Reason.SYNTAX),
    ('{"y": 1, "x": null}', Reason.SYNTAX),
    ('{"y": 1, "x": 3}', Reason.SYNTAX),
    ('{"y": 1, "x": "a"}', Reason.SYNTAX),
    ('{"y": 1, "f": ["a"]}', Reason.SYNTAX),
    ('{"y": 1, "v": [1]}', Reason.SYNTAX),
    ('{"y": 1, "f": {"a": 1}, "v": [1]}', Reason.SYNTAX),
    ('{"x": {"a": 1}}', Reason.LABEL),
    ('{"y": null, "x": {"a": 1}}', Reason.LABEL),
    ('{"y": true, "x": {"a": 1}}', Reason.LABEL),
    ('{"y": "1", "x": {"a": 1}}', Reason.LABEL),
    ('{"y": [1], "x": {"a": 1}}', Reason.LABEL),
    ('{"y": 2, "x": {"a": 1}}', Reason.LABEL),
    ('{"y": 0.5, "x": {"a": 1}}', Reason.LABEL),
    ('{"y": 1e400, "x": {"a": 1}}', Reason.NUMBER),
    ('{"y": NaN, "x": {"a": 1}}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": NaN}}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": -Infinity}}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": 1}, "other": NaN}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": 1e400}}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": ' + "9" * 400 + "}}", Reason.NUMBER),
    ('{"y": 1, "x": {"a": -' + "9" * 5000 + "}}", Reason.NUMBER),
    ('{"y": 1, "x": {"a": 1000000.1}}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": 1e6, "b": 0, "a": 1}}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": true}}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": null}}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": "1"}}', Reason.NUMBER),
    ('{"y": 1, "x": {"f": [1], "v": [1], "g": 1}}', Reason.NUMBER),
    ('{"y": 1, "f": ["a"], "v": ["1"]}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": 1}, "w": 0}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": 1}, "w": -1}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": 1}, "w": "1"}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": 1}, "w": true}', Reason.NUMBER),
    ('{"y": 1, "x": {"a": 1}, "w": 1e400}', Reason.NUMBER),
    ('{"y": 1, "x": {"": 1}}', Reason.NAME),
    ('{"y": 1, "x": {"a": 1, "\\ud800": 1}}', Reason.NAME),
    ('{"y": 1, "x": ["a", 3]}', Reason.NAME),
    ('{"y": 1, "f": [null], "v": [1]}', Reason.NAME),
    ('{"y": 1, "x": {"' + "a" * 257 + '": 1}}', Reason.NAME),
    ('{"y": 1, "x": {"' + "é" * 129 + '": 1}}', Reason.NAME),
    ('{"y": 1, "f": ["a"], "v": [1, 2]}', Reason.LENGTH),
    ('{"y": 1, "x": {"f": ["a", "b"], "v": [1]}}', Reason.LENGTH),
    (json.dumps({"y": 1, "x": [f"f{number}" for number in range(10_001)]}), Reason.TOO_MANY),
    (json.dumps({"y": 1, "x": ["same"] * 10_001}), Reason.TOO_MANY),
    ('{"y": 1, "x": {"a": 1}, "deep": ' + "[" * 8 + "]" * 8 + "}", Reason.DEPTH),
    ("[" * 100_000, Reason.DEPTH),
    ('{"y":1,"x":' * 100_000, Reason.DEPTH),
]


@pytest.mark.parametrize(("text", "features", "label", "weight"), ACCEPTED)
def test_accepted(text, features, label, weight):
    assert only_sample(decoder("json").decode([text.encode()])) == (features, label, weight)


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[text[:60] for text, _ in REFUSED])
def test_refused(text, reason):
    assert only_reject(decoder("json").decode([text.encode()]))[0] == reason


def test_a_name_of_bytes_that_are_not_utf8_is_refused_as_a_name():
    reason, detail = only_reject(decoder("json").decode([b'{"y": 1, "x": {"ok": 1, "\xff": 1}}']))
    assert (reason, detail) == (Reason.NAME, r"the name '\udcff' is not UTF-8")


def test_bytes_that_are_not_utf8_do_no_harm_where_they_are_ignored():
    assert only_sample(decoder("json").decode([b'{"y": 1, "x": {"a": 1}, "id": "\xff"}'])).features == [("a", 1.0)]


def test_exactly_at_each_limit():
    record = {"y": 1, "x": {"a" * 256: 1e6, "é" * 128: -1e6, **{f"f{number}": 1 for number in range(9_998)}}}
    nested = json.dumps(record)[:-1] + ', "deep": ' + "[" * 7 + "]" * 7 + "}"
    assert len(only_sample(decoder("json").decode([nested.encode()])).features) == 10_000


def test_limits_are_those_given():
    text = b'{"y": 1, "x": {"abc": 5, "d": 6}}'
    for name, limit in {"value": 5, "name_bytes": 2, "features": 1, "depth": 1, "record_bytes": 9}.items():
        assert len(decoder("json", **{f"max_{name}": limit}).decode([text]).rejects) == 1
    assert len(decoder("json").decode([text]).rejects) == 0


def test_no_limit_lets_a_parser_recurse_without_end():
    assert only_reject(decoder("json", max_depth=10**9).decode([b"[" * 100_000]))[0] == Reason.DEPTH


def test_real_labels():
    assert only_sample(decoder("json", "real").decode([b'{"y": -2.5, "x": []}'])).label == -2.5
    assert only_sample(decoder("json", "real").decode([b'{"y": 0, "x": []}'])).label == 0.0
    assert only_reject(decoder("json", "real").decode([b'{"y": 1000001, "x": []}']))[0] == Reason.NUMBER
    assert only_reject(decoder("json", "real").decode([b'{"y": "2", "x": []}']))[0] == Reason.LABEL


numbers = st.floats(-1e6, 1e6) | st.integers(-(10**6), 10**6)
JSON_NUMBER = r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?"
spelled_numbers = numbers.map(repr) | st.from_regex(JSON_NUMBER, fullmatch=True)


@settings(deadline=None)
@given(spelled_numbers)
@example("9007199254740993")
@example("18446744073709551617")
@example("0.1e-400")
@example("2.2250738585072011e-308")
def test_numbers_are_what_float_makes_of_their_text(text):
    decoded = decoder("json", "real", max_value=1e100).decode([b'{"y": 1, "x": {"a": %b}}' % text.encode()])
    if abs(float(text)) <= 1e100:
        assert only_sample(decoded).features == [("a", float(text))]
    else:
        assert only_reject(decoded)[0] == Reason.NUMBER


scalars = st.none() | st.booleans() | numbers | st.text(max_size=6) | st.sampled_from([1e300, 10**400, "\ud800"])
names = st.sampled_from(["a", "b", "f", "v", ":", "\\", '"', "é"]) | st.text(max_size=5)
features = st.dictionaries(names, numbers, max_size=5) | st.lists(names, max_size=4)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3), max_leaves=8
)
roots = st.fixed_dictionaries(
    {},
    optional={
        "y": st.sampled_from([1, -1, 0, 1.0]) | scalars,
        "x": features | anything,
        "w": numbers | scalars,
        "f": st.lists(names, max_size=3) | anything,
        "v": st.lists(numbers, max_size=3) | anything,
        "other": anything,
    },
)


def outcome(parser, value):
    try:
        return parser(value, REAL)
    except Refusal as refusal:
        return refusal.reason, refusal.detail


@st.composite
def near_json(draw):
    """JSON of our shapes with keys given twice, then perhaps a slip of the pen."""
    text = json.dumps(draw(roots), ensure_ascii=draw(st.booleans()), indent=draw(st.sampled_from([None, 1])))
    if draw(st.booleans()):
        text = text.replace('"b"', '"a"').replace('"other"', '"x"')
    value = text.encode("utf-8", "surrogatepass")
    if draw(st.booleans()):
        at = draw(st.integers(0, len(value)))
        value = value[:at] + draw(st.binary(max_size=2)) + value[at + draw(st.integers(0, 2)) :]
    return value


@settings(deadline=None, max_examples=600)
@given(near_json())
def test_the_quick_parser_never_differs_from_the_full_one(value):
    try:
        check_depth(value, 8)
    except Refusal:
        return
    quick = outcome(parse_quickly, value)
    assert quick is None or quick == outcome(parse_fully, value)


def test_the_quick_parser_takes_what_is_usual():
    for body in ('"x": {"a:b": 1.5}, "id": {"k": 1}', '"x": ["a"]', '"f": ["a"], "v": [1]'):
        value = b'{"y": 1, %b}' % body.encode()
        assert parse_quickly(value, REAL) == parse_fully(value, REAL)


def keys_of(node):
    if isinstance(node, dict):
        return len(node) + sum(map(keys_of, node.values()))
    return sum(map(keys_of, node)) if isinstance(node, list) else 0


def depth_of(node):
    if isinstance(node, dict | list):
        return 1 + max(map(depth_of, node.values() if isinstance(node, dict) else node), default=0)
    return 0


@settings(deadline=None)
@given(anything, st.booleans())
def test_the_outline_is_that_of_the_parsed_tree(node, escaped):
    text = json.dumps(node, ensure_ascii=escaped).encode("utf-8", "surrogatepass")
    assert outline(np.frombuffer(text, np.uint8)) == (depth_of(node), keys_of(node))
