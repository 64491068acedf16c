"""JSON, one sample a record: ``{"y": 1, "x": {"tok:free": 1.0, "len": 0.3}, "w": 2}``.

`x` may also be a list of names (value 1 each) or ``{"f": [names], "v": [numbers]}``; `f` and `v` may stand beside `y`
instead, and are read only where `x` is absent, so that a stranger's own `v` does no harm. A null `x`, `f`, `v` or `w`
counts as absent. Of a key given twice the last counts, as everywhere in JSON; only the names within `x` add up. Other
keys are ignored.

`parse_quickly` reads nearly every record with typed decoders and gives up on whatever is unusual; `parse_fully` is the
definition, slower, and says what is wrong. They must never differ: tests compare them.
"""

import json
from typing import Any, NoReturn

import msgspec
import numpy as np

from streamsieve.batch import U8, Reason
from streamsieve.decode.refusal import Refusal, shown
from streamsieve.decode.samples import Rules, Sample, text_of
from streamsieve.kernels.compiler import kernel

DEEPEST = 128  # whatever a selector's limits say: parsers recurse, and their stack ends somewhere
QUOTE, BACKSLASH, COLON = ord('"'), ord("\\"), ord(":")
OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT = (ord(letter) for letter in "[]{}")

Columns = tuple[list[str], list[float]]


class Line(msgspec.Struct, gc=False):
    """What the quick parser looks at; `Raw` is parsed only if it is needed."""

    y: float | str
    x: msgspec.Raw = msgspec.Raw(b"null")
    w: float | None = None
    f: msgspec.Raw = msgspec.Raw(b"null")
    v: msgspec.Raw = msgspec.Raw(b"null")


class Pairs(list[tuple[str, Any]]):
    """A JSON object with equal keys kept apart."""


def parse(value: bytes, rules: Rules) -> list[Sample]:
    """The record's one sample; raises Refusal."""
    return [parse_line(value, rules)]


def parse_line(value: bytes, rules: Rules) -> Sample:
    """One sample; raises Refusal."""
    check_depth(value, rules.limits.max_depth)
    sample = parse_quickly(value, rules)
    return parse_fully(value, rules) if sample is None else sample


def check_depth(value: bytes, most: int) -> None:
    """Refuse what is nested too deeply, before any parser recurses into it."""
    most = min(most, DEEPEST)
    if value.count(b"{") + value.count(b"[") > most and outline(np.frombuffer(value, np.uint8))[0] > most:
        raise Refusal(Reason.DEPTH, f"nested deeper than {most}")


@kernel
def outline(text: U8) -> tuple[int, int]:
    """How deeply JSON text is nested, and how many keys all its objects have, told apart or not."""
    depth = deepest = keys = 0
    quoted = False
    at = 0
    while at < len(text):
        letter = text[at]
        if letter == QUOTE:
            quoted = not quoted
        elif quoted:
            at += letter == BACKSLASH
        elif letter == COLON:
            keys += 1
        elif letter in (OPEN_LIST, OPEN_OBJECT):
            depth += 1
            deepest = max(depth, deepest)
        elif letter in (CLOSE_LIST, CLOSE_OBJECT):
            depth -= 1
        at += 1
    return deepest, keys


_line = msgspec.json.Decoder(Line)
_features = msgspec.json.Decoder(dict[str, float] | list[str] | None)
_names = msgspec.json.Decoder(list[str])
_values = msgspec.json.Decoder(list[float])


def parse_quickly(value: bytes, rules: Rules) -> Sample | None:
    """The sample, if nothing about it is unusual; None leaves it to `parse_fully`."""
    try:
        line = _line.decode(value)
        columns = _quick_columns(line)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        return None
    if columns is None:
        return None
    label, weight = rules.label(line.y), rules.weight(line.w)
    return rules.sample(*columns, label, weight)


def _quick_columns(line: Line) -> Columns | None:
    features = _features.decode(line.x)
    if isinstance(features, dict):
        # A dict has lost the earlier of two equal names, whose values must be added up.
        if outline(np.frombuffer(line.x, np.uint8))[1] != len(features):
            return None
        return list(features), list(features.values())
    if features is None:
        return _names.decode(line.f), _values.decode(line.v)
    return features, [1.0] * len(features)


def _no_constant(text: str) -> NoReturn:
    raise Refusal(Reason.NUMBER, f"{text} is no JSON number")


# Whole numbers go through float too: float() makes inf of a thousand digits, int() may refuse them.
_anything = json.JSONDecoder(object_pairs_hook=Pairs, parse_int=float, parse_constant=_no_constant)


def parse_fully(value: bytes, rules: Rules) -> Sample:
    """The definition of the format; raises Refusal with the reason."""
    try:
        root = _anything.decode(text_of(value))
    except json.JSONDecodeError as error:
        raise Refusal(Reason.SYNTAX, f"not JSON: {error.msg} at character {error.pos}") from None
    if not isinstance(root, Pairs):
        raise Refusal(Reason.SYNTAX, "not a JSON object")
    fields = dict(root)
    label, weight = rules.label(fields.get("y")), rules.weight(fields.get("w"))
    return rules.sample(*_full_columns(fields), label, weight)


def _full_columns(fields: dict[str, Any]) -> Columns:
    x = fields.get("x")
    if x is None:
        return _listed(fields.get("f"), fields.get("v"))
    if isinstance(x, Pairs):
        inner = dict(x)
        if inner.keys() == {"f", "v"} and all(type(column) is list for column in inner.values()):
            return _listed(inner["f"], inner["v"])
        return [name for name, _ in x], [_number(value, name) for name, value in x]
    if isinstance(x, list):
        return [_name(name) for name in x], [1.0] * len(x)
    raise Refusal(Reason.SYNTAX, "x is neither an object nor a list")


def _listed(names: object, values: object) -> Columns:
    if names is None and values is None:
        raise Refusal(Reason.SYNTAX, "no features: neither x nor f and v")
    if type(names) is not list or type(values) is not list:
        raise Refusal(Reason.SYNTAX, "f and v must both be lists")
    if len(names) != len(values):
        raise Refusal(Reason.LENGTH, f"{len(names)} names, {len(values)} values")
    checked = [_name(name) for name in names]
    return checked, [_number(value, name) for name, value in zip(checked, values, strict=True)]


def _name(given: object) -> str:
    if not isinstance(given, str):
        raise Refusal(Reason.NAME, "a feature name is no string")
    return given


def _number(given: object, name: str) -> float:
    if not isinstance(given, float):
        raise Refusal(Reason.NUMBER, f"the value of {shown(name)} is no number")
    return given
