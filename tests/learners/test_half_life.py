"""Forgetting: equal to the twins that decay every sum in every round, to the bit wherever batches are cut."""

import numpy as np
import pytest

from streamsieve.checks.streams import Sample, batch_of, random_stream
from tests.twins.agreeing import LOSSES, assert_agree, learner_of, plain_samples, samples_of, tied_samples
from tests.twins.b_arda import NaiveBArda
from tests.twins.batches import batch_of as batch_of_samples
from tests.twins.l1_arda import NaiveL1Arda

SAMPLES = [plain_samples(11, 1200), tied_samples(12, 1200)]
HALF_LIVES = [3, 40.5, 700]  # the sums' scale begins anew every 192, 2,592 and 44,800 samples


@pytest.mark.parametrize("samples", SAMPLES, ids=["plain", "tied"])
@pytest.mark.parametrize("half_life", HALF_LIVES)
@pytest.mark.parametrize("shrinkage", [0.0, 0.03])
@pytest.mark.parametrize("loss", LOSSES)
def test_b_arda_equals_its_twin(loss, shrinkage, half_life, samples):
    params = {"eta": 0.3, "delta": 0.05, "lambda": shrinkage}
    common = {"loss": loss, "half_life": half_life, "intercept": loss == "logistic"}
    learner = learner_of("b-arda", params=params, **common)
    assert_agree(learner, NaiveBArda(12, 0.3, 0.05, shrinkage, **common), samples)


@pytest.mark.parametrize("samples", SAMPLES, ids=["plain", "tied"])
@pytest.mark.parametrize("half_life", HALF_LIVES)
@pytest.mark.parametrize("loss", LOSSES)
def test_l1_arda_equals_its_twin(loss, half_life, samples):
    params = {"eta": 0.3, "delta": 0.05, "l1": 0.01}
    common = {"loss": loss, "half_life": half_life, "intercept": loss == "logistic"}
    assert_agree(learner_of("l1-arda", params=params, **common), NaiveL1Arda(12, **params, **common), samples)


@pytest.mark.parametrize("algorithm", ["b-arda", "l1-arda"])
def test_a_record_undone_across_a_change_of_scale_leaves_no_trace(algorithm):
    """The scale begins anew after 64 samples: here twice within the record whose last sample overflows."""
    stream = random_stream(5, 40)
    count = len(samples_of(stream))
    good = samples_of(random_stream(6, 110, names=200))
    bad = [*good[: 200 - count], Sample(1.0, {"n1": 1e300})]
    tried, spared = (learner_of(algorithm, half_life=1.0, intercept=True) for _ in range(2))
    outcome = tried.learn(batch_of([*stream, bad, *stream]))
    spared.learn(batch_of([*stream, *stream]))
    assert count < 128 < 200 < count + len(good)
    assert [record for record, _ in outcome.overflowed] == [len(stream)]
    assert tried.chunks() == spared.chunks()
    assert tried.selection().names == spared.selection().names
    assert tried.selection().weights.tobytes() == spared.selection().weights.tobytes()


@pytest.mark.parametrize("algorithm", ["b-arda", "l1-arda"])
def test_what_is_undone_is_undone_for_what_was_heard_too(algorithm):
    stream, good = random_stream(5, 40), samples_of(random_stream(6, 110, names=200))
    peer = learner_of(algorithm, half_life=1.0)
    peer.learn(batch_of(stream))
    tried, spared = (learner_of(algorithm, shared=True, half_life=1.0) for _ in range(2))
    for learner in (tried, spared):
        learner.learn(batch_of(stream[:5]))
        learner.hear(1, peer.chunks(), whole=True)
    tried.learn(batch_of([[*good[:150], Sample(1.0, {"n1": 1e300})], *stream[5:8]]))
    spared.learn(batch_of(stream[5:8]))
    np.testing.assert_allclose(tried.margins[151:], spared.margins, rtol=1e-9)
    np.testing.assert_allclose(tried.selection().weights, spared.selection().weights, rtol=1e-9)


@pytest.mark.parametrize("shrinkage", [0.0, 0.05])
def test_each_shard_forgets_by_its_own_rounds(shrinkage):
    """What is served of several shards: the sum of their decayed sums, and of their decayed counts."""
    samples = samples_of(random_stream(7, 400))
    parts = [samples[:150], samples[150:170], samples[170:]]
    params = {"eta": 0.5, "delta": 0.01, "lambda": shrinkage}
    merged = learner_of("b-arda", shared=True, half_life=2.0, params=params)
    total = NaiveBArda(12, 0.5, 0.01, shrinkage)
    sums: dict[str, np.ndarray] = {}
    for number, part in enumerate(parts):
        shard, twin = (
            learner_of("b-arda", half_life=2.0, params=params),
            NaiveBArda(12, 0.5, 0.01, shrinkage, half_life=2.0),
        )
        shard.learn(batch_of_samples(part))
        for sample in part:
            twin.learn(*sample)
        merged.hear(number, shard.chunks(), whole=True)
        total.t += twin.t
        for name, row in twin.row.items():
            sums[name] = sums.get(name, np.zeros(2)) + np.array([twin.G[row], twin.s2[row]])
    total.row = {name: row for row, name in enumerate(sums)}
    total.G, total.s2 = np.array(list(sums.values())).T
    total.choose()
    selection = merged.selection()
    assert selection.names == [name for name, _, _ in total.selection()]
    np.testing.assert_allclose(selection.weights, [weight for _, weight, _ in total.selection()], rtol=1e-9)


def test_peers_that_hear_each_other_go_on_agreeing_with_what_they_serve():
    """Learning, hearing and changes of scale in any order; a bystander who hears all at the end serves the same."""
    stream = random_stream(8, 300)
    left, right, bystander = (learner_of("b-arda", shared=True, half_life=4.0) for _ in range(3))
    for number, record in enumerate(stream):
        (left if number % 3 else right).learn(batch_of([record]))
        if number % 10 == 9:
            left.hear(2, right.chunks(), whole=number % 20 == 9)
            right.hear(1, left.chunks(), whole=False)
    left.hear(2, right.chunks(), whole=True)
    right.hear(1, left.chunks(), whole=True)
    bystander.hear(1, left.chunks(), whole=True)
    bystander.hear(2, right.chunks(), whole=True)
    for learner in (left, right):
        assert sorted(learner.selection().names) == sorted(bystander.selection().names)
        np.testing.assert_allclose(learner.selection().scores, bystander.selection().scores, rtol=1e-9)


def drifting_samples(seed, before, after, names=100, telling=10):
    """Ten of a hundred names a sample; the telling ones are the first ten, then the next ten."""
    random = np.random.default_rng(seed)
    chosen = np.argsort(random.random((before + after, names)), axis=1)[:, :10]
    first = np.where(np.arange(before + after) < before, 0, telling)[:, None]
    signs = np.where(chosen % 2, 1.0, -1.0) * ((chosen >= first) & (chosen < first + telling))
    labels = np.where(signs.sum(axis=1) + 0.3 * random.normal(size=before + after) > 0, 1.0, -1.0)
    samples = [Sample(float(y), {f"n{name}": 1.0 for name in row}) for y, row in zip(labels, chosen, strict=True)]
    return samples[:before], samples[before:], {f"n{name}" for name in range(telling, 2 * telling)}


def samples_to_recover(algorithm, half_life, before, after, truth, every=25):
    """Samples after the change until 0.9 of the new truth is served."""
    learner = learner_of(algorithm, loss="logistic", budget=len(truth), half_life=half_life)
    learner.learn(batch_of_samples(before))
    for start in range(0, len(after), every):
        learner.learn(batch_of_samples(after[start : start + every]))
        if len(truth & set(learner.selection().names)) >= 0.9 * len(truth):
            return start + every
    return len(after)


@pytest.mark.parametrize("algorithm", ["b-arda", "l1-arda"])
def test_forgetting_follows_a_change_of_truth_four_times_as_fast(algorithm):
    stream = drifting_samples(2, 20_000, 5_000)
    plain, forgetting = (samples_to_recover(algorithm, half_life, *stream) for half_life in (None, 200.0))
    assert forgetting <= plain / 4, (forgetting, plain)
