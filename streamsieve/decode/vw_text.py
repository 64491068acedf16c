"""Vowpal Wabbit text, one sample a record: ``label [importance] [tag]|namespace[:scale] name[:value] ...``.

A feature of namespace `ns` is named ``ns^name``, one of the anonymous namespace (``| name``) just ``name``. A value
left out is 1; a namespace's scale multiplies its values. As in Vowpal Wabbit, a word that touches the first bar or
starts with ' is the tag, so ``1|a b`` has a tag and no label, and it is refused. So is an initial prediction (a third
number), which no learner here could honour.
"""

from streamsieve.batch import Reason
from streamsieve.decode.refusal import Refusal, shown
from streamsieve.decode.samples import Rules, Sample, number, single_line, words


def parse(value: bytes, rules: Rules) -> list[Sample]:
    """The record's one sample; raises Refusal."""
    head, *sections = single_line(value).split("|")
    if not sections:
        raise Refusal(Reason.SYNTAX, "no | before the features")
    label, weight = _label_and_weight(head, rules)
    names: list[str] = []
    values: list[float] = []
    for section in sections:
        _read_namespace(section, names, values)
    return [rules.sample(names, values, label, weight)]


def _label_and_weight(head: str, rules: Rules) -> tuple[float | str, float]:
    fields = words(head)
    if fields and (fields[-1].startswith("'") or not head.endswith(" ")):
        fields.pop()
    if not fields:
        raise Refusal(Reason.LABEL, "no label; a blank must part it from the |")
    if len(fields) > 2:
        raise Refusal(Reason.SYNTAX, f"{shown(fields[2])} after the importance: initial predictions are not supported")
    label = rules.label_text(fields[0])
    return label, rules.weight(number(fields[1])) if len(fields) == 2 else 1.0


def _read_namespace(section: str, names: list[str], values: list[float]) -> None:
    """Append what stands between two bars."""
    features = words(section)
    prefix, scale = "", 1.0
    if features and not section.startswith(" "):
        prefix, scale = _named_and_valued(features.pop(0))
        prefix += "^"
    for feature in features:
        name, value = _named_and_valued(feature)
        names.append(prefix + name)
        values.append(value * scale)


def _named_and_valued(word: str) -> tuple[str, float]:
    name, colon, text = word.partition(":")
    if not name:
        raise Refusal(Reason.NAME, f"{shown(word)} has no name")
    return name, number(text) if colon else 1.0
