"""MISSION against its naive twin, to the bit, and what every learner promises."""

import os
import subprocess
import sys

import numpy as np
import pytest

from streamsieve.checks.streams import KEY, Sample
from streamsieve.errors import BadSpec, CorruptState
from streamsieve.learners.making import make_learner, warm
from streamsieve.learners.sample_stream.mission import Mission
from streamsieve.snapshot import fingerprint
from tests.learners.mission_streams import batch_of, learnt, spec_of, stream_of
from tests.twins.mission import NaiveMission

LOSSES = ["logistic", "squared", "softmax"]
SKETCHES = [(1, 16), (3, 16), (5, 64), (3, 4096)]


def params_of(loss: str, **more: float) -> dict[str, float]:
    return {"eta": 0.02 if loss == "squared" else 0.2, "width": 32, **more}


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize(("depth", "width"), SKETCHES)
@pytest.mark.parametrize("decay", [0.0, 0.5])
def test_the_learner_is_its_twin_to_the_bit(loss, depth, width, decay):
    stream = stream_of(loss, 3, 600)
    params = params_of(loss, depth=depth, width=width, decay=decay)
    learner, margins = Mission(spec_of(loss, **params), KEY), []
    for start in range(0, len(stream), 100):
        assert learner.learn(batch_of(stream[start : start + 100])).overflowed == []
        margins += learner.margins.tolist()
    twin = NaiveMission(10, params["eta"], KEY, decay, width, depth, loss, intercept=True)
    expected = [twin.learn(sample.y, sample.x, sample.w) for record in stream for sample in record]
    assert len(expected) >= 1000
    assert margins == expected
    selection = learner.selection()
    assert selection.names == [name for name, _ in twin.selection()]
    assert selection.scores.tolist() == [twin.score(weights) for _, weights in twin.selection()]
    assert all(abs(weight) == score for weight, score in zip(selection.weights, selection.scores, strict=True))
    if loss == "softmax":
        assert selection.classes == [weights for _, weights in twin.selection()]
        assert learner.progress().accuracy == twin.correct / len(expected)
    else:
        assert selection.weights.tolist() == [weights[None] for _, weights in twin.selection()]


@pytest.mark.parametrize("loss", LOSSES)
def test_where_batches_are_cut_is_invisible(loss):
    stream, spec = stream_of(loss, 5, 150), spec_of(loss, **params_of(loss, decay=0.3))
    whole = learnt(spec, stream).chunks()
    assert learnt(spec, stream, cut=1).chunks() == whole
    assert learnt(spec, stream, cut=7).chunks() == whole


@pytest.mark.parametrize("loss", LOSSES)
def test_a_restored_shard_goes_on_to_the_bit(loss):
    stream, spec = stream_of(loss, 6, 200), spec_of(loss, **params_of(loss))
    first = learnt(spec, stream[:100])
    second = Mission(spec, KEY)
    second.restore(first.chunks())
    assert second.changes() == {}
    for learner in (first, second):
        learner.learn(batch_of(stream[100:]))
    assert first.chunks() == second.chunks()
    assert first.selection().names == second.selection().names


@pytest.mark.parametrize("loss", LOSSES)
def test_changes_add_up_to_the_whole_state(loss):
    stream, spec = stream_of(loss, 7, 200), spec_of(loss, budget=1500, **params_of(loss, width=2**14))
    learner, stored = Mission(spec, KEY), {}
    for start in range(0, len(stream), 20):
        learner.learn(batch_of(stream[start : start + 20]))
        changes = learner.changes()
        size = sum(len(data) for data in changes.values())
        assert 0.3 * size <= learner.dirty_bytes() <= 100_000 + 2 * size
        stored |= changes
        learner.settled()
        assert learner.changes() == {}
        assert learner.dirty_bytes() == 0
    assert stored == learner.chunks()


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("spoilt", [0, 1, 5])
def test_a_record_that_overflows_leaves_no_trace(loss, spoilt):
    """Also where it had let new members and classes in, and driven others out, before its bad sample."""
    stream, spec = stream_of(loss, 8, 60), spec_of(loss, budget=5, **params_of(loss))
    names = {f"new{at}": 1.0 for at in range(8)}
    label = "a new class" if loss == "softmax" else 1.0
    heavy = [Sample(label, {name: 40.0 * value for name, value in names.items()}) for _ in range(spoilt)]
    record = [*heavy, Sample(label, {"n1": 1e300, "n2": 1.0}, 1e100)]
    learner = learnt(spec, stream[:30])
    before = fingerprint("mission", learner.chunks())
    outcome = learner.learn(batch_of([record]))
    assert outcome.overflowed == [(0, f"sample {spoilt + 1} of the record would make a sum infinite")]
    assert fingerprint("mission", learner.chunks()) == before
    learner.learn(batch_of(stream[30:]))
    assert learner.chunks() == learnt(spec, stream).chunks()


def test_cells_that_would_overflow_together_are_refused_too():
    """Each amount fits a float32, their sum in one shared cell does not."""
    learner = learnt(spec_of("squared", depth=1, width=1, eta=0.5), [])
    learner.learn(batch_of([[Sample(1.0, {"a": 1.0})]]))
    before = learner.chunks()
    signs = dict.fromkeys("abcdefghijkl", 1.0)
    outcome = learner.learn(batch_of([[Sample(3e38, signs)]]))
    assert len(outcome.overflowed) == 1
    assert learner.chunks() == before


def test_one_class_too_many_is_a_refused_record():
    spec = spec_of("softmax", max_classes=2)
    good = [[Sample("a", {"x": 1.0})], [Sample("b", {"y": 1.0})]]
    bad = [Sample("a", {"x": 1.0}), Sample("c", {"z": 1.0})]
    learner = Mission(spec, KEY)
    outcome = learner.learn(batch_of([*good, bad, good[0]]))
    assert outcome.overflowed == [(2, "sample 2 of the record brings a new class beyond max_classes = 2")]
    assert learner.chunks() == learnt(spec, [*good, good[0]]).chunks()
    assert learner.progress().samples == 3


def test_a_class_that_a_refused_record_brought_may_come_again():
    spec = spec_of("softmax")
    refused = [Sample("a", {"x": 1.0}), Sample("b", {"x": 1e300}, 1e100)]
    good = [[Sample("b", {"y": 1.0})], [Sample("a", {"x": 1.0})]]
    learner = Mission(spec, KEY)
    assert [record for record, _ in learner.learn(batch_of([refused, *good])).overflowed] == [0]
    assert learner.chunks() == learnt(spec, good).chunks()


def test_a_class_under_two_numbers_of_a_batch_is_one():
    stream, spec = stream_of("softmax", 9, 40), spec_of("softmax", **params_of("softmax"))
    batch = batch_of(stream)
    count = len(batch.class_ends)
    doubled = batch._replace(
        labels=batch.labels + count * (np.arange(batch.sample_count) % 2),
        class_text=np.concatenate([batch.class_text] * 2),
        class_ends=np.concatenate([batch.class_ends, batch.class_ends[-1] + batch.class_ends]),
    )
    learner = Mission(spec, KEY)
    learner.learn(doubled)
    assert learner.chunks() == learnt(spec, stream).chunks()


def test_weights_of_a_class_add_up_over_the_classes_to_nothing():
    """Softmax steps sum to zero over the classes, so with a wide sketch the weights do."""
    selection = learnt(spec_of("softmax", budget=100, eta=0.1), stream_of("softmax", 4, 200)).selection()
    assert len(selection.names) == 60
    assert max(abs(sum(weights.values())) for weights in selection.classes) < 1e-5


def test_another_hash_key_is_refused():
    spec = spec_of()
    chunks = learnt(spec, stream_of("logistic", 1, 20)).chunks()
    with pytest.raises(CorruptState, match="another hash key"):
        Mission(spec, bytes(16)).restore(chunks)
    with pytest.raises(CorruptState, match="another hash key"):
        Mission(spec, bytes(16), shared=True).hear(1, chunks, whole=True)


@pytest.mark.parametrize("damage", ["short", "nan", "missing", "unknown", "past", "shape"])
def test_damaged_chunks_are_refused(damage):
    spec = spec_of(width=64)
    chunks = learnt(spec, stream_of("logistic", 1, 20)).chunks()
    if damage == "short":
        chunks["s:0"] = chunks["s:0"][:-4]
    elif damage == "nan":
        chunks["s:0"] = np.full(3 * 64, np.nan, "<f4").tobytes()
    elif damage == "missing":
        del chunks["n:0"]
    elif damage == "unknown":
        chunks["q:0"] = b""
    elif damage == "past":
        chunks["s:1"] = chunks["s:0"]
    else:
        spec = spec_of(width=128)
    with pytest.raises(CorruptState):
        Mission(spec, KEY).restore(chunks)


def test_memory_for_names_does_not_grow_with_the_stream():
    learner = Mission(spec_of(budget=8, eta=0.5), KEY)
    for at in range(60):
        names = [f"{'long ' * 20}{at}-{each}" for each in range(200)]
        learner.learn(batch_of([[Sample(1.0, dict.fromkeys(names, 1.0 + at))]]))
    assert len(learner._active.members.text) < 400_000  # 60 x 200 x 100 bytes went by
    assert sum(len(data) for name, data in learner.chunks().items() if name.startswith("n:")) < 2_000


@pytest.mark.parametrize(
    ("params", "field"),
    [
        ({"width": 1000}, "params.width: must be a power of two"),
        ({"width": 0}, "params.width"),
        ({"width": 2.5}, "params.width"),
        ({"depth": 2}, "params.depth: must be an odd number of at most 31, not 2"),
        ({"depth": -1}, "params.depth"),
        ({"depth": 1.5}, "params.depth"),
        ({"max_classes": 0.5}, "params.max_classes"),
        ({"decay": None}, "params.decay"),
        ({"decay": -1}, "params.decay"),
        ({"eta": float("nan")}, "params.eta"),
        ({"eta": 0}, "params.eta"),
    ],
)
def test_bad_parameters_are_named(params, field):
    with pytest.raises(BadSpec, match=field):
        spec_of(**params)


def test_the_step_decays_by_default_only_with_peers():
    spec = spec_of()
    assert "decay" not in spec.params
    assert Mission(spec, KEY)._rule.decay == 0.0
    assert Mission(spec, KEY, shared=True)._rule.decay == 0.5
    assert Mission(spec_of(decay=0), KEY, shared=True)._rule.decay == 0.0


@pytest.mark.parametrize("loss", LOSSES)
def test_every_loss_can_be_warmed(loss):
    warm(spec_of(loss))
    assert make_learner(spec_of(loss), KEY).selection().names == []


WITHOUT_COMPILER = """
import warnings; warnings.simplefilter("ignore")
from streamsieve.snapshot import fingerprint
from tests.learners.mission_streams import learnt, spec_of, stream_of
for loss in ("logistic", "squared", "softmax"):
    spec = spec_of(loss, eta=0.02, width=32, decay=0.3)
    print(fingerprint("mission", learnt(spec, stream_of(loss, 11, 120)).chunks()))
"""


def test_the_compiler_changes_no_bit():
    """Production compiles; a debugger does not. They must agree, or neither proves anything of the other."""
    plain = subprocess.run(
        [sys.executable, "-c", WITHOUT_COMPILER],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"}, capture_output=True, text=True, check=True,
    )  # fmt: skip
    compiled = [
        fingerprint("mission", learnt(spec_of(loss, eta=0.02, width=32, decay=0.3), stream_of(loss, 11, 120)).chunks())
        for loss in LOSSES
    ]
    assert plain.stdout.split() == compiled
