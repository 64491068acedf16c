"""A selection's intercept is what its learner adds to each margin; of several shards, what their merge adds."""

import json

import numpy as np
import pytest

from streamsieve.decode.decoder import Decoder
from streamsieve.learners.catalogue import CATALOGUE, LABELS
from streamsieve.learners.making import make_learner
from streamsieve.limits import Limits
from streamsieve.spec import Spec

KEY = bytes(range(16))
CASES = [
    (entry.name, half_life)
    for entry in CATALOGUE.values()
    if entry.kind == "sample" and LABELS[entry.losses[0]] == "binary"
    for half_life in ((None, 20.0) if entry.forgets else (None,))
]
AVERAGED = [entry.name for entry in CATALOGUE.values() if entry.kind == "sample" and not entry.sums]


def spec_of(algorithm, **more):
    return Spec.parse({"name": "a", "topic": "a", "algorithm": algorithm, "budget": 3, "intercept": True, **more})


def batch_of(samples, labels="binary"):
    records = [json.dumps({"y": y, "x": x}).encode() for y, x in samples]
    decoded = Decoder("json", labels, Limits(), KEY).decode(records)
    assert decoded.rejects == []
    return decoded.batch


def stream(seed, count, labels=(-1, 1, 1, 1)):
    random = np.random.default_rng(seed)
    return [
        (
            labels[random.integers(len(labels))],
            {"a": random.normal(), "b": random.normal(), f"c{random.integers(9)}": 1},
        )
        for _ in range(count)
    ]


def learnt(spec, samples, shared=False):
    learner = make_learner(spec, KEY, shared)
    learner.learn(batch_of(samples, spec.labels))
    return learner


def margin_without_features(learner) -> float:
    """What it predicts of a sample whose only feature it never saw."""
    learner.learn(batch_of([(1, {"never seen": 1})]))
    return float(learner.margins[0])


@pytest.mark.parametrize(("algorithm", "half_life"), CASES)
def test_it_is_what_is_added_to_a_margin(algorithm, half_life):
    learner = learnt(spec_of(algorithm, half_life=half_life), stream(1, 150))
    told = learner.selection().intercept
    assert isinstance(told, float)
    assert told != 0.0
    assert told == margin_without_features(learner)


@pytest.mark.parametrize("algorithm", [entry.name for entry in CATALOGUE.values() if entry.kind == "sample"])
def test_without_one_it_is_zero(algorithm):
    spec = spec_of(algorithm, intercept=False)
    assert learnt(spec, stream(1, 50)).selection().intercept == 0.0
    learner = learnt(spec, stream(1, 50), shared=True)
    learner.hear(1, learnt(spec, stream(2, 50)).chunks(), whole=True)
    assert learner.selection().intercept == 0.0


@pytest.mark.parametrize(("algorithm", "half_life"), [case for case in CASES if CATALOGUE[case[0]].sums])
def test_where_shards_add_up_it_has_the_peers_in_it(algorithm, half_life):
    spec = spec_of(algorithm, half_life=half_life)
    learner = learnt(spec, stream(1, 150), shared=True)
    alone = learner.selection().intercept
    learner.hear(1, learnt(spec, stream(2, 90, labels=(-1,)), shared=True).chunks(), whole=True)
    told = learner.selection().intercept
    assert told != alone
    assert told == margin_without_features(learner)


@pytest.mark.parametrize("algorithm", AVERAGED)
def test_where_shards_are_averaged_so_is_it(algorithm):
    spec = spec_of(algorithm)
    learner, peer = learnt(spec, stream(1, 150), shared=True), learnt(spec, stream(2, 50, labels=(-1,)))
    mine, its = learner.selection().intercept, peer.selection().intercept
    assert mine != its
    learner.hear(1, peer.chunks(), whole=True)
    told = learner.selection().intercept
    if algorithm == "sofs":
        assert min(mine, its) < told < max(mine, its)
    else:
        assert told == pytest.approx((150 * mine + 50 * its) / 200, rel=1e-12)


def test_by_precision_a_shard_counts_as_the_samples_that_taught_it():
    """SOFS, gamma 1, by hand: one sample gives mu = 1/3 and S = 1/2, a second one of its kind mu = 5/12, S = 1/3."""
    spec = spec_of("sofs", params={"gamma": 1.0})
    learner, peer = learnt(spec, [(1, {"a": 1})], shared=True), learnt(spec, [(-1, {"a": 1})] * 2)
    learner.hear(1, peer.chunks(), whole=True)
    assert learner.selection().intercept == pytest.approx((2 / 3 - 3 * 5 / 12) / 5, rel=1e-12)


def test_with_several_classes_it_is_zero():
    spec = spec_of("mission", loss="softmax")
    assert learnt(spec, stream(1, 50, labels=("red", "blue", 7))).selection().intercept == 0.0
