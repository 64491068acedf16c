"""Stored states of the learners that keep at most B weights: what can't be theirs is refused."""

import numpy as np
import pytest

from streamsieve.checks.streams import Sample, batch_of
from streamsieve.errors import CorruptState
from tests.learners.kept import Case, sparse_stream


def chunks_of(case, budget=9):
    learner = case.learner(budget)
    learner.learn(batch_of(sparse_stream(1, 40)))
    return learner.chunks()


def with_number(data: bytes, at: int, number: float) -> bytes:
    numbers = np.frombuffer(data, "<f8").copy()
    numbers[at] = number
    return numbers.tobytes()


@pytest.mark.parametrize(
    ("case", "number"),
    [
        (Case("b-amd", "logistic", {}), -1.0),
        (Case("sofs", "hinge", {}), 0.0),
        (Case("sofs", "hinge", {}), 1.5),
        (Case("sofs", "hinge", {}), float("nan")),
    ],
)
def test_a_second_number_out_of_its_bounds_is_refused(case, number):
    chunks = chunks_of(case)
    broken = {**chunks, "s:0": with_number(chunks["s:0"], 1, number)}
    with pytest.raises(CorruptState):
        case.learner(9).restore(broken)
    with pytest.raises(CorruptState):
        case.learner(9, shared=True).hear(0, broken, whole=True)


def test_more_weights_than_the_budget_are_refused_except_between_prunings():
    with pytest.raises(CorruptState, match="budget"):
        Case("iht", "logistic", {}).learner(3).restore(chunks_of(Case("iht", "logistic", {})))
    listing = Case("batch-iht", "logistic", {"batch": 10_000})
    learner = listing.learner(3)
    learner.restore(chunks_of(listing, 3))
    assert len(learner.selection().names) == 3


def test_a_width_of_another_algorithm_is_refused():
    with pytest.raises(CorruptState, match="bytes"):
        Case("ofs", "hinge", {}).learner(9).restore(chunks_of(Case("b-amd", "logistic", {})))


def test_the_place_within_a_batch_survives_a_restore():
    case = Case("batch-iht", "squared", {"eta": 0.5, "batch": 3})
    first, second = case.learner(1), case.learner(1)
    first.learn(batch_of([[Sample(2.0, {"a": 1.0})], [Sample(1.0, {"b": 1.0})]]))
    second.restore(first.chunks())
    second.learn(batch_of([[Sample(0.0, {})], [Sample(5.0, {"b": 1.0})]]))
    assert second.margins.tolist() == [0.0, 0.0]  # b was pruned at the third sample


def test_names_past_the_limit_are_as_if_they_were_not_there():
    """Also in OFS's norm and in SOFS's doubt, which look at all of a sample's features."""
    for case in (Case("ofs", "hinge", {"lambda": 0.5, "eta": 0.5}), Case("sofs", "hinge", {})):
        limited, spared = case.learner(5, limits={"max_names": 2}), case.learner(5)
        stream = [[Sample(y, {"a": 1.0, "b": 2.0, "c": 4.0})] for y in (1.0, -1.0, 1.0)]
        assert limited.learn(batch_of(stream)).ignored_names == 3
        spared.learn(batch_of([[Sample(sample.y, {"a": 1.0, "b": 2.0})] for (sample,) in stream]))
        assert limited.margins.tobytes() == spared.margins.tobytes()
        assert limited.selection().weights.tobytes() == spared.selection().weights.tobytes()


def test_ties_of_a_merge_go_to_the_first_shard_whenever_it_was_heard():
    case = Case("iht", "logistic", {})
    early, late = case.learner(1), case.learner(1)
    early.learn(batch_of([[Sample(1.0, {"z": 1.0})]]))
    late.learn(batch_of([[Sample(1.0, {"a": 1.0})]]))
    for order in ([0, 1], [1, 0]):
        listener = case.learner(1, shared=True)
        for number in order:
            listener.hear(number, (early, late)[number].chunks(), whole=True)
        assert listener.selection().names == ["z"]
