import pytest

from streamsieve.batch import Reason
from tests.decode.unpacked import decoder, only_reject, only_sample

ACCEPTED = [
    ("+1 3:0.5 17:1", [("3", 0.5), ("17", 1.0)], 1.0),
    ("-1 3:1e-3\n", [("3", 0.001)], -1.0),
    ("0\t1:2  5:-7 # 9:9", [("1", 2.0), ("5", -7.0)], -1.0),
    ("1", [], 1.0),
    ("1 0:1", [("0", 1.0)], 1.0),
    ("1 007:1 7:2 000:5", [("7", 3.0), ("0", 5.0)], 1.0),
    ("1 " + "9" * 256 + ":1\r\n", [("9" * 256, 1.0)], 1.0),
]

REFUSED = [
    ("", Reason.LABEL),
    ("# a comment", Reason.LABEL),
    ("3:0.5", Reason.LABEL),
    ("1,2 3:1", Reason.LABEL),
    ("3 3:1", Reason.LABEL),
    ("inf 3:1", Reason.NUMBER),
    ("1 3", Reason.SYNTAX),
    ("1 3:", Reason.SYNTAX),
    ("1 :1", Reason.SYNTAX),
    ("1 a:1", Reason.SYNTAX),
    ("1 -3:1", Reason.SYNTAX),
    ("1 \u0663:1", Reason.SYNTAX),
    ("1 \u00b2:1", Reason.SYNTAX),
    ("1 qid:3 4:1", Reason.SYNTAX),
    ("1 3:1\n1 3:1", Reason.SYNTAX),
    ("1 3:nan", Reason.NUMBER),
    ("1 3:2e6", Reason.NUMBER),
    ("1 " + "9" * 257 + ":1", Reason.NAME),
    ("1 " + "3:1 " * 10_001, Reason.TOO_MANY),
]


@pytest.mark.parametrize(("text", "features", "label"), ACCEPTED, ids=[text[:30] for text, _, _ in ACCEPTED])
def test_accepted(text, features, label):
    assert only_sample(decoder("libsvm").decode([text.encode()])) == (features, label, 1.0)


@pytest.mark.parametrize(("text", "reason"), REFUSED, ids=[text[:30] for text, _ in REFUSED])
def test_refused(text, reason):
    assert only_reject(decoder("libsvm").decode([text.encode()]))[0] == reason
