import pytest

from streamsieve.checks.streams import Sample, batch_of
from streamsieve.errors import BadSpec
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
from tests.twins.iht import NaiveIht

CASES = [Case("iht", loss, {"eta": 0.02}, intercept) for loss in ("logistic", "squared") for intercept in (False, True)]
BATCHES = [
    Case("batch-iht", loss, {"eta": 0.02, "batch": batch}, intercept)
    for loss in ("logistic", "squared")
    for batch, intercept in ((7, False), (100, True))
]


@pytest.mark.parametrize("case", CASES + BATCHES, ids=str)
def test_equals_its_twin(case):
    for budget in (1, 9, 40):
        assert_equal(case, NaiveIht, budget, sparse_stream(budget, 700, real=case.loss == "squared"))


@pytest.mark.parametrize("case", CASES + BATCHES, ids=str)
def test_ties_are_settled_by_row(case):
    for budget in (3, 10):
        assert_equal(case, NaiveIht, budget, tied_stream(budget, 300))


def test_real_labels_have_a_loss_but_no_accuracy():
    learner = Case("iht", "squared", {"eta": 0.25}).learner(5)
    learner.learn(batch_of([[Sample(4.0, {"a": 1.0})], [Sample(5.0, {"a": 1.0})]]))
    assert learner.progress() == (2, None, (16.0 + 9.0) / 2, None)


def test_between_prunings_all_weights_predict_and_the_largest_are_served():
    learner = Case("batch-iht", "squared", {"eta": 0.5, "batch": 3}).learner(1)
    learner.learn(batch_of([[Sample(2.0, {"a": 1.0})], [Sample(1.0, {"b": 1.0})], [Sample(3.0, {"a": 1.0, "b": 1.0})]]))
    assert learner.margins.tolist() == [0.0, 0.0, 3.0]
    assert learner.selection().names == ["a"]
    learner.learn(batch_of([[Sample(0.0, {"b": 1.0})]]))
    assert learner.margins.tolist() == [0.0]


@pytest.mark.parametrize("batch", [0, 1.5, -3, 2**31, float("nan")])
def test_a_batch_is_a_whole_number_of_samples(batch):
    with pytest.raises(BadSpec, match=r"params\.batch"):
        Case("batch-iht", "squared", {"batch": batch}).spec(5)


@pytest.mark.parametrize("case", [CASES[0], BATCHES[2]], ids=str)
def test_shards_are_averaged(case):
    budget, parts = 6, parted(sparse_stream(8, 300, real=case.loss == "squared"), 3)
    mean = mean_of(twins_of(case, NaiveIht, budget, parts))
    best = best_of({name: abs(weight) for name, weight in mean.items()}, budget)
    weights, scores = merged(case, budget, parts)
    assert_close(weights, {name: mean[name] for name in best})
    assert scores == {name: abs(weight) for name, weight in weights.items()}
