import pytest

from streamsieve.batch import Reason
from tests.decode.unpacked import decoder, only_reject, only_sample

ACCEPTED = [
    ("1 | free:1 len:0.3", [("free", 1.0), ("len", 0.3)], 1.0, 1.0),
    ("-1 2.5 | a", [("a", 1.0)], -1.0, 2.5),
    ("0 |ns a:2 b", [("ns^a", 2.0), ("ns^b", 1.0)], -1.0, 1.0),
    ("1 |u a:3 |v:2 a:3 b | a", [("u^a", 3.0), ("v^a", 6.0), ("v^b", 2.0), ("a", 1.0)], 1.0, 1.0),
    ("1 |u a |u a:2", [("u^a", 3.0)], 1.0, 1.0),
    ("1 2 tag|ns a", [("ns^a", 1.0)], 1.0, 2.0),
    ("1 'tag | a", [("a", 1.0)], 1.0, 1.0),
    ("1 'tag| a", [("a", 1.0)], 1.0, 1.0),
    ("1 |", [], 1.0, 1.0),
    ("1 |ns", [], 1.0, 1.0),
    ("1 || a", [("a", 1.0)], 1.0, 1.0),
    ("\t+1.0\t|\ta:.5  b:-1e2 ", [("a", 0.5), ("b", -100.0)], 1.0, 1.0),
    ("1 | a\n", [("a", 1.0)], 1.0, 1.0),
    ("1 | a:0\r\n", [("a", 0.0)], 1.0, 1.0),
    ("1 |é ü\u00a0x", [("é^ü\u00a0x", 1.0)], 1.0, 1.0),  # a no-break space is no separator
]

REFUSED = [
    ("", Reason.SYNTAX),
    ("1", Reason.SYNTAX),
    ("1 a:1", Reason.SYNTAX),
    ("1 | a\n1 | b", Reason.SYNTAX),
    ("1 | a\r1 | b", Reason.SYNTAX),
    ("1 | a:", Reason.SYNTAX),
    ("1 | a:b", Reason.SYNTAX),
    ("1 | a:1:2", Reason.SYNTAX),
    ("1 | a:1_0", Reason.SYNTAX),
    ("1 | a:\u0661", Reason.SYNTAX),
    ("1 | a:1\x0b", Reason.SYNTAX),
    ("1 |ns:x a", Reason.SYNTAX),
    ("1 1 0.5 | a", Reason.SYNTAX),
    ("1 x | a", Reason.SYNTAX),
    ("| a", Reason.LABEL),
    ("1|ns a", Reason.LABEL),
    ("x | a", Reason.LABEL),
    ("2 | a", Reason.LABEL),
    ("nan | a", Reason.NUMBER),
    ("1 | a:nan", Reason.NUMBER),
    ("1 | a:-inf", Reason.NUMBER),
    ("1 | a:1e400", Reason.NUMBER),
    ("1 | a:1e7", Reason.NUMBER),
    ("1 |ns:1000 a:1001", Reason.NUMBER),
    ("1 |ns:1e308 a:1e308", Reason.NUMBER),
    ("1 0 | a", Reason.NUMBER),
    ("1 -1 | a", Reason.NUMBER),
    ("1 | :1", Reason.NAME),
    ("1 |:2 a", Reason.NAME),
    ("1 | " + "a" * 257, Reason.NAME),
    ("1 |" + "n" * 200 + " " + "a" * 56, Reason.NAME),  # 257 with the ^
    ("1 | " + "a " * 10_001, Reason.TOO_MANY),
]


@pytest.mark.parametrize(("text", "features", "label", "weight"), ACCEPTED)
def test_accepted(text, features, label, weight):
    assert only_sample(decoder("vw").decode([text.encode()])) == (features, label, weight)


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[text[:30] for text, _ in REFUSED])
def test_refused(text, reason):
    assert only_reject(decoder("vw").decode([text.encode()]))[0] == reason


def test_a_name_that_is_not_utf8():
    assert only_reject(decoder("vw").decode([b"1 | \xff:1"]))[0] == Reason.NAME
