import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.output import as_json, feature_table, one_line, shown, table

HOSTILE = ["\x1b[2J", "a\nb", "\u202egnp.exe", "\u200bhidden", "\x9b31m", "[red]bold[/red]", "\x00", "\u2028", "\t"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_shown_not_obeyed(name):
    text = shown(name)
    assert text.isprintable()
    assert "\n" not in text


@given(st.text())
def test_shown_text_tells_names_apart(name):
    text = shown(name)
    assert text.isprintable()
    assert text.encode("latin-1", "backslashreplace").decode("unicode_escape") == name


@given(st.text())
def test_one_line_is_one_line(text):
    assert one_line(text).isprintable()


def test_a_table_has_one_line_a_row():
    features = [{"rank": rank, "feature": name, "weight": 0.1, "score": 1e-9} for rank, name in enumerate(HOSTILE, 1)]
    lines = feature_table(features).split("\n")
    assert len(lines) == len(HOSTILE) + 1
    assert lines[0].split() == ["rank", "weight", "score", "feature"]
    assert lines[6] == "6     0.1     1e-09  [red]bold[/red]"


def test_an_empty_table_keeps_its_head():
    assert table(("a", "b"), []) == "a  b"


def test_numbers_in_json_are_whole():
    number = 0.1 + 0.2
    assert json.loads(as_json({"weight": number}))["weight"] == number
    assert as_json({"name": "\u202e\x9b"}) == '{"name": "\\u202e\\u009b"}'
