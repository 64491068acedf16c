"""Output for people and programs. Names come from strangers: a terminal must show them, never obey them."""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence

FEATURE_COLUMNS = ("rank", "weight", "score", "feature")


def shown(text: str) -> str:
    r"""The text on one line, with everything that a terminal might obey (control, bidi, invisible) spelled out.

    >>> print(shown("caf\u00e9 \x1b[31m\u202ered\n"))
    café \x1b[31m\u202ered\n
    """
    return "".join(_shown_character(character) for character in text)


def _shown_character(character: str) -> str:
    if character == "\\":
        return "\\\\"
    return character if character.isprintable() else character.encode("unicode_escape").decode("ascii")


def one_line(text: str) -> str:
    r"""An error's text as one safe line; unlike `shown` it leaves backslashes as they are.

    >>> print(one_line("no file 'a\\b'\nat all"))
    no file 'a\b' at all
    """
    joined = " ".join(text.split())
    return "".join(character if character == "\\" else _shown_character(character) for character in joined)


def table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns padded to their widest cell; the last one runs free, so long names are never cut.

    >>> print(table(("rank", "feature"), [("1", "free"), ("2", "money")]))
    rank  feature
    1     free
    2     money
    """
    lines = [tuple(columns), *(tuple(shown(cell) for cell in row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(columns))]
    return "\n".join(_row(line, widths) for line in lines)


def _row(line: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()


def feature_table(features: Iterable[Mapping[str, object]]) -> str:
    """Served or selected features, as /features/top and `sieve select` give them."""
    return table(FEATURE_COLUMNS, [[_cell(feature.get(column)) for column in FEATURE_COLUMNS] for feature in features])


def _cell(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def as_json(value: object) -> str:
    """One line; numbers in full (repr), all but ASCII escaped, so that it is safe on any terminal."""
    return json.dumps(value, allow_nan=False)


def say(text: str) -> None:
    """A line for the caller."""
    print(text, flush=True)


def note(text: str) -> None:
    """A line beside the output, on stderr."""
    print(text, file=sys.stderr, flush=True)
