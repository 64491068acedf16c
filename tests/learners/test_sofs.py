import pytest

from streamsieve.checks.streams import Sample, batch_of
from tests.learners.kept import (
    Case,
    assert_close,
    assert_equal,
    best_of,
    merged,
    parted,
    sparse_stream,
    tied_stream,
    twins_of,
)
from tests.twins.sofs import NaiveSofs

CASES = [
    Case("sofs", "hinge", {"gamma": gamma}, intercept) for gamma in (0.1, 1.0, 30.0) for intercept in (False, True)
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_equals_its_twin(case):
    for budget in (1, 9, 40):
        assert_equal(case, NaiveSofs, budget, sparse_stream(budget, 700))


@pytest.mark.parametrize("case", CASES, ids=str)
def test_ties_are_settled_by_row(case):
    for budget in (3, 10):
        assert_equal(case, NaiveSofs, budget, tied_stream(budget, 300))


def test_a_name_seen_without_loss_takes_its_place_among_equals():
    """`a`, `c` come in a sample without loss: variance 1, and older than `b`, whose step is too small to shrink it."""
    case = Case("sofs", "hinge", {"gamma": 1.0})
    stream = [[Sample(1.0, {"k": 5.0})], [Sample(1.0, {"k": 5.0, "a": 1.0, "c": 1.0})], [Sample(1.0, {"b": 1e-12})]]
    for budget in (2, 3, 4):
        learner, twin = case.learner(budget), case.twin(budget, NaiveSofs)
        learner.learn(batch_of([[Sample(1.0, {"k": 5.0})]] * 4 + stream))
        for record in [[Sample(1.0, {"k": 5.0})]] * 4 + stream:
            twin.learn(*record[0])
        assert learner.selection().names == [name for name, _, _ in twin.selection()]
        assert ("b" in learner.selection().names) == (budget == 4)


def test_precisions_of_shards_add_up():
    case, budget = Case("sofs", "hinge", {}), 6
    parts = parted(sparse_stream(8, 300), 3)
    twins = twins_of(case, NaiveSofs, budget, parts)
    names = dict.fromkeys(name for twin in twins for name in twin.slot)
    known = {
        name: [(twin.S[twin.slot[name]], twin.w[twin.slot[name]]) for twin in twins if name in twin.slot]
        for name in names
    }
    precision = {name: sum(1 / S for S, _ in pairs) + len(twins) - len(pairs) for name, pairs in known.items()}
    mean = {name: sum(mu / S for S, mu in pairs) / precision[name] for name, pairs in known.items()}
    best = [name for name in best_of(precision, budget) if mean[name] != 0]
    weights, scores = merged(case, budget, parts)
    assert_close(weights, {name: mean[name] for name in best})
    assert_close(scores, {name: precision[name] for name in best})
