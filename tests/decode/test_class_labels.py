"""Labels that are classes: any whole number or text, numbered within a batch and named beside it."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsieve.batch import Batch, Reason, class_names
from streamsieve.decode import csv_rows
from streamsieve.decode.json_samples import parse_fully, parse_quickly
from streamsieve.decode.refusal import Refusal
from tests.decode.unpacked import decoder, only_reject, plain_samples
from tools.shuffling import joined, taken


def classes_of(batch: Batch) -> list[str]:
    """The class of each sample, by name."""
    names = class_names(batch)
    return [names[int(label)] for label in batch.labels]


def record(label: object) -> bytes:
    return json.dumps({"y": label, "x": {"a": 1}}).encode()


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=20)
labels = st.lists(st.integers(-(2**53), 2**53) | texts, max_size=12)


@settings(deadline=None)
@given(labels)
def test_each_sample_has_the_class_that_its_label_spells(given_labels):
    batch = decoder("json", "class").decode([record(label) for label in given_labels]).batch
    assert classes_of(batch) == [str(label) for label in given_labels]
    assert class_names(batch) == list(dict.fromkeys(str(label) for label in given_labels))


@settings(deadline=None)
@given(labels, labels)
def test_joined_and_dealt_out_batches_keep_their_classes(first, second):
    parts = [decoder("json", "class").decode([record(label) for label in some]) for some in (first, second)]
    whole = joined(parts).batch
    expected = [str(label) for label in first + second]
    assert classes_of(whole) == expected
    assert classes_of(taken(whole, np.arange(len(expected))[::-1])) == expected[::-1]


@settings(deadline=None)
@given(st.one_of(st.integers(), texts, st.floats(), st.booleans(), st.none(), st.just([1])))
def test_the_quick_parser_and_the_full_one_agree_on_classes(label):
    rules = decoder("json", "class").rules
    value = record(label)
    quick = outcome_of(parse_quickly, value, rules)
    assert quick in (None, outcome_of(parse_fully, value, rules))


def outcome_of(parse, value, rules):
    try:
        return parse(value, rules)
    except Refusal as refusal:
        return refusal.reason, refusal.detail


def test_numbers_and_the_texts_that_spell_them_are_one_class():
    batch = decoder("json", "class").decode([record(3), record("3"), record(3.0), record(-0.0)]).batch
    assert class_names(batch) == ["3", "0"]


@pytest.mark.parametrize(
    ("content_type", "value", "name"),
    [
        ("text/x-vw", b"spam | a", "spam"),
        ("text/x-vw", b"+3 2.0 | a", "3"),
        ("text/x-libsvm", b"7.0 1:1", "7"),
        ("text/x-libsvm", "größe 1:1".encode(), "größe"),
    ],
)
def test_text_formats_take_words_as_classes(content_type, value, name):
    decoded = decoder("json", "class").decode([value], [content_type])
    assert classes_of(decoded.batch) == [name]
    assert len(plain_samples(decoded.batch)) == 1


def test_a_csv_column_may_hold_classes():
    table = csv_rows.table_of(["y", "a"])
    decoded = decoder("json", "class").gather([["red", "1"], ["2", "1"], ["2.5", "1"]], table.parse)
    assert classes_of(decoded.batch) == ["red", "2"]
    assert [reject.reason for reject in decoded.rejects] == [Reason.LABEL]


@pytest.mark.parametrize("label", [None, True, [1], {"a": 1}, 2.5, 1e300, 2**54, "", "x" * 257, "\ud800"])
def test_what_names_no_class_is_refused(label):
    reason, detail = only_reject(decoder("json", "class").decode([record(label)]))
    assert reason in (Reason.LABEL, Reason.NAME)
    assert detail


def test_words_are_no_labels_elsewhere():
    for labels_kind in ("binary", "real"):
        assert only_reject(decoder("json", labels_kind).decode([record("red")]))[0] == Reason.LABEL
