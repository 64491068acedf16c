import json

import pytest

from streamsieve.batch import Reason
from streamsieve.decode.ndjson_samples import spans
from tests.decode.unpacked import decoder, only_reject, plain_records

GOOD = b'{"y": 1, "x": {"a": 1}}'


def lines(*given):
    return b"\n".join(given)


def test_many_samples_are_one_record():
    decoded = decoder("ndjson").decode([lines(GOOD, b'{"y": -1, "x": ["b"], "w": 3}', b""), GOOD])
    assert plain_records(decoded.batch) == [
        [([("a", 1.0)], 1.0, 1.0), ([("b", 1.0)], -1.0, 3.0)],
        [([("a", 1.0)], 1.0, 1.0)],
    ]


def test_blank_lines_and_carriage_returns_are_skipped():
    decoded = decoder("ndjson").decode([b"\r\n" + GOOD + b"\r\n  \n" + GOOD + b"\r\n"])
    assert [len(record) for record in plain_records(decoded.batch)] == [2]


@pytest.mark.parametrize(
    ("value", "reason", "detail"),
    [
        (lines(GOOD, b"{}", GOOD), Reason.LABEL, "line 2: no label"),
        (lines(GOOD, b"", b"[]", GOOD, b"{}"), Reason.SYNTAX, "lines 3, 5; line 3: not a JSON object"),
        (lines(b"{}", b"{}", b"{}", GOOD, b"{}"), Reason.LABEL, "lines 1-3, 5; line 1: no label"),
        (lines(GOOD, b"[" * 9), Reason.DEPTH, "line 2: nested deeper than 8"),
        (b"", Reason.SYNTAX, "no samples"),
        (b" \n\n", Reason.SYNTAX, "no samples"),
    ],
)
def test_a_record_is_refused_whole_and_its_bad_lines_are_named(value, reason, detail):
    assert only_reject(decoder("ndjson").decode([value])) == (reason, detail)


def test_sums_over_the_limit_are_bad_lines_like_any_other():
    over = b'{"y": 1, "x": {"a": 1e6, "a": 1}}'
    _, detail = only_reject(decoder("ndjson").decode([lines(b"{}", GOOD, over)]))
    assert detail.startswith("lines 1, 3;")


def test_too_many_samples():
    value = lines(*[GOOD] * 4)
    assert decoder("ndjson", max_samples=4).decode([value]).rejects == []
    assert only_reject(decoder("ndjson", max_samples=3).decode([value]))[0] == Reason.TOO_MANY


def test_thousands_of_bad_lines_are_told_in_one_short_line():
    value = lines(*[GOOD, json.dumps({"y": 1, "x": {"n" * 300: 1}}).encode()] * 5000)
    reason, detail = only_reject(decoder("ndjson").decode([value]))
    assert reason == Reason.NAME
    assert detail.startswith("lines 2, 4, 6,")
    assert "(5000 lines in all)" in detail
    assert len(detail) <= 200


def test_the_first_bad_line_is_always_named():
    assert spans([12_345_678, 12_345_680], most=3) == "12345678 (2 lines in all)"
