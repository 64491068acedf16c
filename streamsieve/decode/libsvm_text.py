"""LIBSVM text, one sample a record: ``+1 3:0.5 17:1 # comment``.

Names are the numbers as text, strictly ASCII digits. 007 is the number 7, so its name is ``7``.
There is no place for a weight: it is 1. `qid:` and lists of labels are refused.
"""

from streamsieve.batch import Reason
from streamsieve.decode.refusal import Refusal, shown
from streamsieve.decode.samples import Rules, Sample, number, single_line, words


def parse(value: bytes, rules: Rules) -> list[Sample]:
    """The record's one sample; raises Refusal."""
    tokens = words(single_line(value).partition("#")[0])
    if not tokens or ":" in tokens[0]:
        raise Refusal(Reason.LABEL, "no label")
    label = rules.label_text(tokens[0])
    pairs = [token.partition(":") for token in tokens[1:]]
    names = [_index(name) for name, _, _ in pairs]
    values = [number(text) for _, _, text in pairs]
    return [rules.sample(names, values, label, 1.0)]


def _index(name: str) -> str:
    if not (name.isdigit() and name.isascii()):
        raise Refusal(Reason.SYNTAX, f"{shown(name)} is no feature number")
    return name.lstrip("0") or "0"
