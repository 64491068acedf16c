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
from tests.twins.ofs import NaiveOfs

CASES = [
    Case("ofs", "hinge", {"lambda": shrinkage}, intercept)
    for shrinkage in (0.0, 0.01, 0.5)
    for intercept in (False, True)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_equals_its_twin(case):
    for budget in (1, 9, 40):
        assert_equal(case, NaiveOfs, budget, sparse_stream(budget, 700))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_ties_are_settled_by_row(case):
    for budget in (3, 10):
        assert_equal(case, NaiveOfs, budget, tied_stream(budget, 300))


def test_weights_stay_within_the_ball():
    case = Case("ofs", "hinge", {"eta": 0.5, "lambda": 0.5})
    learner = case.learner(50)
    for record in sparse_stream(4, 60):
        learner.learn(batch_of([record]))
        assert np.linalg.norm(learner.selection().weights) <= 1 / np.sqrt(0.5) * (1 + 1e-12)


def test_without_loss_weights_only_shrink():
    learner = Case("ofs", "hinge", {"eta": 1.0, "lambda": 0.125}).learner(5)
    learner.learn(batch_of([[Sample(1.0, {"a": 2.0})], [Sample(1.0, {"a": 1.0})]]))
    assert learner.selection().weights.tolist() == [2.0 * 0.875]


def test_shards_are_averaged():
    case, budget = Case("ofs", "hinge", {"lambda": 0.05}), 6
    parts = parted(sparse_stream(8, 300), 3)
    mean = mean_of(twins_of(case, NaiveOfs, budget, parts))
    best = best_of({name: abs(weight) for name, weight in mean.items()}, budget)
    weights, scores = merged(case, budget, parts)
    assert_close(weights, {name: mean[name] for name in best})
    assert scores == {name: abs(weight) for name, weight in weights.items()}
