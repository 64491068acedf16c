"""Shards of MISSION that hear each other: sketches add, candidates are the union of the active sets."""

from statistics import median

import numpy as np
import pytest

from streamsieve.checks.streams import KEY, Sample
from streamsieve.learners.sample_stream.mission import Mission
from tests.learners.mission_streams import batch_of, learnt, spec_of, stream_of
from tests.twins.mission import NaiveMission

LOSSES = ["logistic", "squared", "softmax"]
WIDE = {"width": 2**14, "eta": 0.02, "decay": 0.5}


def shards(spec, stream, count):
    """Each learns its part, hearing nobody."""
    return [learnt(spec, stream[part::count], shared=True) for part in range(count)]


def summed(twins: list[NaiveMission], name: str, c):
    """What a query of the added sketches must answer."""
    first = twins[0]
    votes = []
    for row, at, sign in first.spots(name):
        votes.append(sign * sum(float(twin.cells.get((c, row, at), 0.0)) for twin in twins))
    return median(votes)


def twin_of(loss, stream, params):
    twin = NaiveMission(10, params["eta"], KEY, params["decay"], params["width"], 3, loss, intercept=True)
    for record in stream:
        for sample in record:
            twin.learn(sample.y, sample.x, sample.w)
    return twin


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("width", [32, 2**14])
def test_the_served_set_is_the_best_of_the_union_by_the_added_sketches(loss, width):
    params = {**WIDE, "width": width}
    stream, spec = stream_of(loss, 21, 240), spec_of(loss, **params)
    learners = shards(spec, stream, 3)
    twins = [twin_of(loss, stream[part::3], params) for part in range(3)]
    for peer in (1, 2):
        learners[0].hear(peer, learners[peer].chunks(), whole=True)
    classes = dict.fromkeys(c for twin in twins for c in twin.classes)
    union = dict.fromkeys(name for twin in twins for name in twin.active)
    weights = {name: {c: summed(twins, name, c) for c in classes} for name in union}
    best = sorted((max(map(abs, each.values())) for each in weights.values()), reverse=True)[:10]
    selection = learners[0].selection()
    np.testing.assert_allclose(selection.scores, best, rtol=1e-12)
    for name, weight in zip(selection.names, selection.weights, strict=True):
        assert abs(weight) == pytest.approx(max(map(abs, weights[name].values())), rel=1e-12)
    if loss == "softmax":
        assert [set(each) for each in selection.classes] == [set(classes)] * len(selection.names)


@pytest.mark.parametrize("loss", LOSSES)
def test_hearing_changes_is_hearing_the_whole(loss):
    stream, spec = stream_of(loss, 22, 120), spec_of(loss, **WIDE)
    speaker, bits, whole = (Mission(spec, KEY, shared=True) for _ in range(3))
    for start in range(0, len(stream), 30):
        speaker.learn(batch_of(stream[start : start + 30]))
        bits.hear(1, speaker.changes(), whole=start == 0)
        speaker.settled()
    whole.hear(1, speaker.chunks(), whole=True)
    assert bits.selection() is not None
    np.testing.assert_array_equal(bits.selection().weights, whole.selection().weights)
    assert bits.selection().names == whole.selection().names
    assert bits.selection().classes == whole.selection().classes


@pytest.mark.parametrize("loss", LOSSES)
def test_a_peer_that_is_void_counts_no_more(loss):
    stream, spec = stream_of(loss, 23, 90), spec_of(loss, budget=100, **WIDE)
    first, second, third = shards(spec, stream, 3)
    first.hear(1, second.chunks(), whole=True)
    first.selection()
    first.hear(1, {}, whole=True)
    first.hear(2, third.chunks(), whole=True)
    other = learnt(spec, stream[0::3], shared=True)
    other.hear(2, third.chunks(), whole=True)
    weights = dict(zip(first.selection().names, first.selection().scores, strict=True))
    expected = dict(zip(other.selection().names, other.selection().scores, strict=True))
    assert {name: weights[name] for name in expected} == expected


@pytest.mark.parametrize("loss", LOSSES)
def test_shards_that_talk_often_learn_as_one(loss):
    """The sum of shards that know each other's every sample is nearly the single shard: same t, same weights."""
    params = {"width": 2**14, "eta": 0.02, "decay": 0.5}
    stream = stream_of(loss, 24, 120)
    spec = spec_of(loss, budget=100, **params)
    pair = [Mission(spec, KEY, shared=True) for _ in range(2)]
    for at, record in enumerate(stream):
        one, other = pair[at % 2], pair[1 - at % 2]
        one.learn(batch_of([record]))
        other.hear(at % 2, one.chunks(), whole=True)
    alone = learnt(spec, stream)
    together = dict(zip(pair[0].selection().names, pair[0].selection().scores, strict=True))
    single = dict(zip(alone.selection().names, alone.selection().scores, strict=True))
    assert together.keys() == single.keys()
    for name, score in single.items():
        assert together[name] == pytest.approx(score, rel=1e-3, abs=1e-5)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_shard_that_has_heard_goes_on_after_a_restart(loss):
    stream, spec = stream_of(loss, 25, 90), spec_of(loss, **WIDE)
    first, second = shards(spec, stream, 2)
    first.hear(1, second.chunks(), whole=True)
    first.selection()
    again = Mission(spec, KEY, shared=True)
    again.restore(first.chunks())
    assert again.chunks() == first.chunks()
    again.hear(1, second.chunks(), whole=True)
    assert again.selection().names == first.selection().names
    stored = {**learnt(spec, stream[0::2], shared=True).chunks(), **first.changes()}
    assert stored == first.chunks()


def test_classes_beyond_the_limit_are_not_heard():
    spec = spec_of("softmax", max_classes=2)
    first, second = (Mission(spec, KEY, shared=True) for _ in range(2))
    first.learn(batch_of([[Sample("a", {"x": 1.0})]]))
    second.learn(batch_of([[Sample("b", {"y": 1.0})], [Sample("c", {"z": 1.0})]]))
    first.hear(1, second.chunks(), whole=True)
    assert [set(each) for each in first.selection().classes] == [{"a", "b"}] * len(first.selection().names)


def test_only_a_shared_learner_hears():
    with pytest.raises(ValueError, match="shared=True"):
        Mission(spec_of(), KEY).hear(1, {}, whole=True)
