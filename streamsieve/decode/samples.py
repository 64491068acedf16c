"""One sample on its way into a batch, and the rules that it must keep."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from streamsieve.batch import Reason
from streamsieve.decode.refusal import Refusal, shown
from streamsieve.limits import Limits

LARGEST_WHOLE = 2.0**53  # beyond it floats skip whole numbers


class Sample(NamedTuple):
    """A checked sample. Its names lie end to end in `text` (UTF-8); equal names are not yet added up."""

    text: bytes
    lengths: list[int]
    values: list[float]
    label: float | str  # a text is the name of a class
    weight: float


class Rules(NamedTuple):
    """What every format asks of labels, weights, names and values. `labels` is 'binary', 'real' or 'class'."""

    labels: str
    limits: Limits

    def label(self, given: object) -> float | str:
        """-1.0 or 1.0 (0 counts as -1) of a binary label, any number within the limit of a real one, a class's name."""
        if self.labels == "class" and given is not None:
            return self._class(given)
        if not isinstance(given, float):
            raise Refusal(Reason.LABEL, "no label" if given is None else f"the label is no number: {_kind(given)}")
        if not abs(given) <= self.limits.max_value:
            raise Refusal(Reason.NUMBER, f"the label {given!r} is not within +-{self.limits.max_value:g}")
        if self.labels == "real":
            return given
        if given not in (-1.0, 0.0, 1.0):
            raise Refusal(Reason.LABEL, f"the label {given!r} is none of -1, 0, 1")
        return given or -1.0

    def label_text(self, text: str) -> float | str:
        """The label that a text format spells; where labels are classes it need not be a number."""
        if self.labels == "class" and not _spells_number(text):
            return self.label(text)
        return self.label(label_number(text))

    def _class(self, given: object) -> str:
        """A class's name: a whole number as decimal text, any other text as it is, so that 3 and "3" are one class."""
        if isinstance(given, float):
            if not (given.is_integer() and abs(given) <= LARGEST_WHOLE):
                raise Refusal(Reason.LABEL, f"the class {given!r} is no whole number within +-2^53")
            return str(int(given))
        if not isinstance(given, str):
            raise Refusal(Reason.LABEL, f"the class is neither a number nor a string: {_kind(given)}")
        if not 0 < len(_utf8(given)) <= self.limits.max_name_bytes:
            raise Refusal(Reason.LABEL, f"the class {shown(given)} is empty or over {self.limits.max_name_bytes} bytes")
        return given

    def weight(self, given: object) -> float:
        """Finite, > 0 and within the limit; None is 1."""
        if given is None:
            return 1.0
        if not isinstance(given, float):
            raise Refusal(Reason.NUMBER, f"the weight is no number: {_kind(given)}")
        if not 0.0 < given <= self.limits.max_value:
            raise Refusal(Reason.NUMBER, f"the weight {given!r} is not > 0 and at most {self.limits.max_value:g}")
        return given

    def sample(self, names: Sequence[str], values: list[float], label: float | str, weight: float) -> Sample:
        """The sample, if its names and values are within the limits."""
        if len(names) != len(values):
            raise Refusal(Reason.LENGTH, f"{len(names)} names, {len(values)} values")
        if len(names) > self.limits.max_features:
            raise Refusal(Reason.TOO_MANY, f"{len(names)} features in a sample, at most {self.limits.max_features}")
        text, lengths = self._encoded(names)
        # The sum of magnitudes bounds each value and the sum of any of them, and a NaN fails it, so one pass is
        # enough for nearly every sample; half the limit leaves room for rounding.
        if not sum(map(abs, values)) <= self.limits.max_value / 2:
            self._check_values(names, values)
        return Sample(text, lengths, values, label, weight)

    def _encoded(self, names: Sequence[str]) -> tuple[bytes, list[int]]:
        together = "".join(names)
        if together.isascii():
            text, lengths = together.encode(), list(map(len, names))
        else:
            parts = [_utf8(name) for name in names]
            text, lengths = b"".join(parts), list(map(len, parts))
        if lengths and not (min(lengths) >= 1 and max(lengths) <= self.limits.max_name_bytes):
            raise self._bad_name(names, lengths)
        return text, lengths

    def _bad_name(self, names: Sequence[str], lengths: list[int]) -> Refusal:
        if min(lengths) == 0:
            return Refusal(Reason.NAME, f"feature {lengths.index(0) + 1} has an empty name")
        longest = lengths.index(max(lengths))
        size, most = lengths[longest], self.limits.max_name_bytes
        return Refusal(Reason.NAME, f"the name {shown(names[longest])} has {size} bytes, at most {most}")

    def _check_values(self, names: Sequence[str], values: list[float]) -> None:
        most = self.limits.max_value
        sums: dict[str, float] = {}
        for name, value in zip(names, values, strict=True):
            if not abs(value) <= most:
                raise Refusal(Reason.NUMBER, f"the value {value!r} of {shown(name)} is not within +-{most:g}")
            sums[name] = sums.get(name, 0.0) + value
        for name, total in sums.items():
            if not abs(total) <= most:
                raise Refusal(Reason.NUMBER, f"the values of {shown(name)} add up to {total!r}, not within +-{most:g}")


def _utf8(name: str) -> bytes:
    try:
        return name.encode()
    except UnicodeEncodeError:
        raise Refusal(Reason.NAME, f"the name {shown(name)} is not UTF-8") from None


def _kind(given: object) -> str:
    """A JSON value that is no number, in a word."""
    if isinstance(given, str):
        return f"the string {shown(given)}"
    return {True: "true", False: "false"}[given] if isinstance(given, bool) else "a list or an object"


def number(text: str) -> float:
    """The number that a decimal text spells: what float() takes, less its underscores, blanks and foreign digits.

    >>> number("+.5e1")
    5.0
    >>> number("1_000")
    Traceback (most recent call last):
    streamsieve.decode.refusal.Refusal: '1_000' is no number
    """
    if "_" in text or not text.isascii() or not text.isprintable():
        raise Refusal(Reason.SYNTAX, f"{shown(text)} is no number")
    try:
        value = float(text)
    except ValueError:
        raise Refusal(Reason.SYNTAX, f"{shown(text)} is no number") from None
    if not math.isfinite(value):
        raise Refusal(Reason.NUMBER, f"{shown(text)} is not finite")
    return value


def _spells_number(text: str) -> bool:
    try:
        number(text)
    except Refusal as refusal:
        return refusal.reason is not Reason.SYNTAX
    return True


def label_number(text: str) -> float:
    """As `number`, but a text that is none is a bad label."""
    try:
        return number(text)
    except Refusal as refusal:
        reason = Reason.LABEL if refusal.reason is Reason.SYNTAX else refusal.reason
        raise Refusal(reason, f"label: {refusal.detail}") from None


def text_of(value: bytes) -> str:
    """The text of a record. A byte that isn't UTF-8 stays as a lone surrogate, which no name may hold."""
    return value.decode("utf-8", "surrogateescape")


def single_line(value: bytes) -> str:
    """The text of a record that is one line; one line end after it is fine, tabs are blanks."""
    line = text_of(value).removesuffix("\n").removesuffix("\r")
    if "\n" in line or "\r" in line:
        raise Refusal(Reason.SYNTAX, "more than one line; a record of this format is one sample")
    return line.replace("\t", " ")


def words(line: str) -> list[str]:
    """What stands between blanks; str.split would also cut at exotic ones, which names may hold."""
    return [word for word in line.split(" ") if word]
