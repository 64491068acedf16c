"""l1-ARDA against its twin; its generic promises are in test_checks."""

import numpy as np
import pytest

from streamsieve.checks.streams import random_stream
from tests.twins.agreeing import LOSSES, assert_agree, learner_of, plain_samples, samples_of, tied_samples
from tests.twins.batches import batch_of
from tests.twins.l1_arda import NaiveL1Arda


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("samples", [plain_samples(1, 1200), tied_samples(2, 1200)], ids=["plain", "tied"])
def test_equals_its_twin(loss, intercept, samples):
    params = {"eta": 0.3, "delta": 0.05, "l1": 0.01}
    learner = learner_of("l1-arda", loss=loss, intercept=intercept, params=params)
    assert_agree(learner, NaiveL1Arda(12, **params, loss=loss, intercept=intercept), samples)


def test_reports_how_many_weights_are_nonzero_and_predicts_with_all():
    samples = samples_of(random_stream(3, 300))
    params = {"eta": 0.5, "delta": 0.01, "l1": 0.02}
    narrow, wide = (learner_of("l1-arda", budget=budget, params=params) for budget in (2, 1000))
    for learner in (narrow, wide):
        learner.learn(batch_of(samples))
    twin = NaiveL1Arda(2, **params)
    for sample in samples:
        twin.learn(*sample)
    assert np.array_equal(narrow.margins, wide.margins)
    assert len(narrow.selection().names) == 2
    assert narrow.selection().nonzero == wide.selection().nonzero == len(wide.selection().names)
    assert narrow.selection().nonzero == np.count_nonzero(twin.w) < len(twin.w)


def test_shards_add_up_to_one_learner_fed_the_sums():
    """Two shards that hear each other after every sample weigh features by the sum of their sums."""
    samples = samples_of(random_stream(4, 120))
    params = {"eta": 0.5, "delta": 0.01, "l1": 0.01}
    left, right = (learner_of("l1-arda", shared=True, params=params) for _ in range(2))
    twin = NaiveL1Arda(12, **params)
    for number, sample in enumerate(samples):
        speaker, listener = (left, right) if number % 2 else (right, left)
        speaker.learn(batch_of([sample]))
        assert abs(speaker.margins[0] - twin.learn(*sample)) <= 1e-9
        listener.hear(0, speaker.chunks(), whole=True)
    expected = {name: weight for name, weight, _ in twin.selection()}
    for learner in (left, right):
        selection = learner.selection()
        assert set(selection.names) == set(expected)
        np.testing.assert_allclose(selection.weights, [expected[name] for name in selection.names], rtol=1e-9)
