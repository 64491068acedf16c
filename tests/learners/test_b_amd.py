import numpy as np
import pytest

from streamsieve.checks.streams import Sample, batch_of
from tests.learners.kept import (
    Case,
    assert_close,
    assert_equal,
    best_of,
    mean_of,
    merged,
    parted,
    sparse_stream,
    tied_stream,
    twins_of,
)
from tests.twins.b_amd import NaiveBAmd

CASES = [
    Case("b-amd", loss, {"lambda": shrinkage}, intercept)
    for loss in ("squared_hinge", "logistic")
    for shrinkage in (0.0, 0.02)
    for intercept in (False, True)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_equals_its_twin(case):
    for budget in (1, 9, 40):
        assert_equal(case, NaiveBAmd, budget, sparse_stream(budget, 700))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_ties_are_settled_by_row(case):
    for budget in (3, 10):
        assert_equal(case, NaiveBAmd, budget, tied_stream(budget, 300))


def test_a_dropped_weight_restarts_from_zero_with_its_old_curvature():
    case = Case("b-amd", "squared_hinge", {"eta": 1.0, "delta": 1.0, "lambda": 0.0})
    learner = case.learner(1)
    learner.learn(batch_of([[Sample(1.0, {"a": 1.0})], [Sample(1.0, {"b": 3.0})]]))
    assert learner.selection().names == ["b"]
    learner.learn(batch_of([[Sample(1.0, {"a": 5.0})]]))
    assert learner.selection().names == ["a"]
    assert learner.selection().weights[0] == 10 / (1 + np.sqrt(2.0**2 + 10.0**2))


def test_shards_are_averaged_and_ranked_by_the_curvature_of_all():
    case, budget = Case("b-amd", "logistic", {"lambda": 0.01}), 6
    parts = parted(sparse_stream(8, 300), 3)
    twins = twins_of(case, NaiveBAmd, budget, parts)
    mean = mean_of(twins)
    squares = {name: sum(twin.s2[twin.slot[name]] for twin in twins if name in twin.slot) for name in mean}
    scores = {name: (twins[0].delta + np.sqrt(squares[name])) * abs(mean[name]) for name in mean}
    best = best_of(scores, budget)
    weights, found_scores = merged(case, budget, parts)
    assert_close(weights, {name: mean[name] for name in best})
    assert_close(found_scores, {name: scores[name] for name in best})
