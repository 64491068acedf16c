"""Ada-Fobos against its twin; its generic promises are in test_checks."""

import struct

import numpy as np
import pytest

from streamsieve.checks.streams import random_stream
from streamsieve.errors import CorruptState
from tests.twins.ada_fobos import NaiveAdaFobos
from tests.twins.agreeing import LOSSES, assert_agree, learner_of, plain_samples, samples_of, tied_samples
from tests.twins.batches import batch_of

PARAMS = {"eta": 0.3, "delta": 0.05, "l1": 0.0137}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("intercept", [False, True])
@pytest.mark.parametrize("samples", [plain_samples(1, 1200), tied_samples(2, 1200)], ids=["plain", "tied"])
def test_equals_its_twin(loss, intercept, samples):
    learner = learner_of("ada-fobos", loss=loss, intercept=intercept, params=PARAMS)
    assert_agree(learner, NaiveAdaFobos(12, **PARAMS, loss=loss, intercept=intercept), samples)


def test_untouched_weights_fade_to_zero_by_missed_thresholds_alone():
    params = {**PARAMS, "l1": 0.2}
    learner, twin = learner_of("ada-fobos", params=params), NaiveAdaFobos(12, **params)
    samples = samples_of(random_stream(3, 30))
    assert_agree(learner, twin, samples)
    empty = [sample._replace(x={}) for sample in samples]
    sizes = []
    for _ in range(10):
        assert_agree(learner, twin, empty)
        sizes.append(learner.selection().nonzero)
    assert sizes[0] > sizes[-1] == 0
    assert sizes == sorted(sizes, reverse=True)


def test_budget_caps_what_is_served_not_what_predicts():
    narrow, wide = (learner_of("ada-fobos", budget=budget, params=PARAMS) for budget in (2, 1000))
    samples = samples_of(random_stream(3, 300))
    for learner in (narrow, wide):
        learner.learn(batch_of(samples))
    assert narrow.chunks() == wide.chunks()
    assert len(narrow.selection().names) == 2
    assert narrow.selection().nonzero == len(wide.selection().names) > 2


def test_served_of_several_shards_is_the_mean_by_samples_then_truncated():
    """Each shard's own missed thresholds are applied first, by its own rounds."""
    samples = samples_of(random_stream(4, 300))
    parts = [samples[:60], samples[60:160], samples[160:]]
    merged = learner_of("ada-fobos", shared=True, budget=5, params=PARAMS)
    mean: dict[str, float] = {}
    for number, part in enumerate(parts):
        shard, twin = learner_of("ada-fobos", params=PARAMS), NaiveAdaFobos(5, **PARAMS)
        shard.learn(batch_of(part))
        for sample in part:
            twin.learn(*sample)
        for name, row in twin.row.items():
            mean[name] = mean.get(name, 0.0) + len(part) / len(samples) * twin.w[row]
        merged.hear(number, shard.chunks(), whole=True)
    selection = merged.selection()
    best = sorted(mean, key=lambda name: -abs(mean[name]))[:5]
    assert selection.names == best
    np.testing.assert_allclose(selection.weights, [mean[name] for name in best], rtol=1e-9)
    assert selection.nonzero == sum(weight != 0 for weight in mean.values())


def test_a_row_touched_in_the_future_is_corrupt():
    learner = learner_of("ada-fobos", params=PARAMS)
    learner.learn(batch_of(samples_of(random_stream(3, 5))))
    chunks = learner.chunks()
    for wrong in (1e6, -1.0, 0.5):
        chunks["s:0"] = chunks["s:0"][:16] + struct.pack("<d", wrong) + chunks["s:0"][24:]
        with pytest.raises(CorruptState, match="round that can't be"):
            learner_of("ada-fobos", params=PARAMS).restore(chunks)
