"""B-ARDA against its naive twin, round by round."""

import os
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamsieve.checks.streams import KEY, Sample, random_stream
from streamsieve.checks.streams import batch_of as batch_of_records
from streamsieve.errors import CorruptState
from streamsieve.kernels.dual_averaging import learn
from streamsieve.learners.sample_stream.b_arda import BArda
from streamsieve.snapshot import fingerprint
from streamsieve.spec import Spec
from tests.twins.b_arda import NaiveBArda
from tests.twins.batches import batch_of

ROOT = Path(__file__).parents[2]


def spec_of(budget=5, loss="squared_hinge", intercept=False, limits=None, **params):
    given_params = {name.replace("lam", "lambda"): value for name, value in params.items()}
    fields = {"name": "a", "algorithm": "b-arda", "topic": "t", "budget": budget, "loss": loss}
    return Spec.parse({**fields, "intercept": intercept, "params": given_params, "limits": limits or {}})


def twin_of(spec):
    params = spec.params
    return NaiveBArda(spec.budget, params["eta"], params["delta"], params["lambda"], spec.loss, spec.intercept)


def mixed(seed, count):
    return [sample for record in random_stream(seed, count, names=300) for sample in record][:count]


def tied(seed, count):
    """Values all 1, labels by one word: big groups of words with the same sums."""
    random = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        words = random.zipf(1.3, size=12) % 500
        samples.append(Sample(1.0 if 3 in words or 7 in words else -1.0, {f"w{word}": 1.0 for word in words}))
    return samples


def counts_of_words(seed, count):
    """As in dexter: integers up to 999, many rare words; few samples seen over and over."""
    random = np.random.default_rng(seed)
    documents = []
    for _ in range(60):
        words = np.unique(random.zipf(1.4, size=40) % 2000)
        x = {f"w{word}": float(random.integers(1, 1000)) for word in words}
        documents.append(Sample(1.0 if random.random() < 0.5 else -1.0, x))
    return [documents[int(random.integers(60))] for _ in range(count)]


def nearly_tied(seed, count):
    """Tenths added in different orders: sums that differ in the last bit, or not at all."""
    random = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        words = random.permutation(80)[:8]
        x = {f"w{word}": float(random.choice([0.1, 0.2, 0.3, 0.7])) for word in words}
        samples.append(Sample(float(random.choice([-1.0, 1.0])), x))
    return samples


def reordered_by_time(seed, count):
    """First many words at very different scales, then samples that hardly touch any: only the round goes on."""
    random = np.random.default_rng(seed)
    scales = 10 ** random.uniform(-1, 2, size=400)
    samples = []
    for at in range(count):
        words = random.permutation(400)[:10] if at < 150 or at % 50 == 0 else []
        x = {f"w{word}": float(scales[word]) for word in words}
        samples.append(Sample(float(random.choice([-1.0, 1.0])), x, 1.0))
    return samples


def assert_agrees(spec, samples, step):
    learner, twin = BArda(spec, KEY), twin_of(spec)
    for start in range(0, len(samples), step):
        part = samples[start : start + step]
        assert learner.learn(batch_of(part)) == ([], 0)
        margins = [twin.learn(*sample) for sample in part]
        assert np.abs(learner.margins - margins).max() <= 1e-9 * (1 + np.abs(margins).max())
        assert_same_selection(learner.selection(), twin.selection())
    assert learner.progress().samples == twin.t
    return learner


def assert_same_selection(selection, expected):
    assert selection.names == [name for name, _, _ in expected]
    weights = np.array([weight for _, weight, _ in expected])
    largest = np.abs(weights).max(initial=0)
    assert (np.abs(selection.weights - weights) <= 1e-9 * (np.abs(weights) + largest)).all()
    assert selection.scores == pytest.approx([score for _, _, score in expected], rel=1e-9)


@pytest.mark.parametrize("budget", [1, 5, 50])
@pytest.mark.parametrize("lam", [0.0, 1e-3, 1e-1])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
@pytest.mark.parametrize("intercept", [False, True])
def test_agrees_with_its_twin(budget, lam, loss, intercept):
    spec = spec_of(budget, loss, intercept, lam=lam)
    assert_agrees(spec, mixed(seed=budget, count=1000), step=13)


@pytest.mark.parametrize("budget", [1, 5, 50])
@pytest.mark.parametrize("lam", [0.0, 1e-3, 1e-1])
@pytest.mark.parametrize("loss", ["squared_hinge", "logistic"])
def test_agrees_on_ties(budget, lam, loss):
    assert_agrees(spec_of(budget, loss, lam=lam), tied(seed=budget, count=1500), step=13)


@pytest.mark.parametrize("budget", [5, 30])
@pytest.mark.parametrize("lam", [0.0, 1e-2])
def test_agrees_on_nearly_ties(budget, lam):
    assert_agrees(spec_of(budget, lam=lam), nearly_tied(seed=budget, count=1500), step=7)


@pytest.mark.parametrize("budget", [5, 40])
@pytest.mark.parametrize("lam", [0.1, 1.0, 10.0])
def test_agrees_while_time_alone_changes_the_order(budget, lam):
    learner = assert_agrees(spec_of(budget, "logistic", lam=lam), reordered_by_time(seed=budget, count=1500), step=5)
    assert learner.rebuilds < 150


@pytest.mark.parametrize("lam", [0.0, 1e-2])
def test_agrees_on_counts_of_words(lam):
    assert_agrees(spec_of(20, eta=1e-4, delta=1e-2, lam=lam), counts_of_words(seed=3, count=2000), step=11)


@pytest.mark.parametrize("eta", [1e-150, 1e-60, 1e60])
def test_agrees_at_absurd_rates(eta):
    """Scores near the ends of what a float holds: margins of safety must not turn into errors."""
    samples = [sample._replace(w=1.0) for sample in mixed(seed=8, count=300)]
    assert_agrees(spec_of(7, "logistic", eta=eta, lam=1e-3), samples, step=5)


sparse = st.dictionaries(
    st.sampled_from([f"w{number}" for number in range(40)]),
    st.sampled_from([1.0, 1.0, 2.0, -1.0, 0.1, 0.3, 0.0]),
    max_size=6,
)
samples_of_any_kind = st.lists(
    st.builds(Sample, st.sampled_from([-1.0, 1.0]), sparse, st.sampled_from([1.0, 1.0, 0.5])), max_size=120
)


@settings(max_examples=60, deadline=None)
@given(samples_of_any_kind, st.sampled_from([1, 2, 5, 20]), st.sampled_from([0.0, 0.01, 1.0]))
def test_agrees_on_anything(samples, budget, lam):
    assert_agrees(spec_of(budget, lam=lam), samples, step=3)


@pytest.mark.parametrize("lam", [0.0, 1e-2])
def test_choosing_anew_stays_rare(lam):
    """Over tied words too: a rebuild looks at all rows, so one a round would be O(d) a sample."""
    learner = BArda(spec_of(40, lam=lam), KEY)
    learner.learn(batch_of(tied(seed=2, count=6000)))
    assert learner.rebuilds < 150


@settings(max_examples=25, deadline=None)
@given(st.lists(st.integers(0, 200), max_size=4), st.sampled_from([0.0, 0.05]), st.booleans())
def test_restored_anywhere_goes_on_alike(cuts, lam, shared):
    stream = random_stream(seed=4, records=200, names=150)
    spec = spec_of(15, "logistic", lam=lam)
    whole, travelling = BArda(spec, KEY, shared), BArda(spec, KEY, shared)
    whole.learn(batch_of_records(stream))
    bounds = [0, *sorted(cuts), 200]
    for start, stop in pairwise(bounds):
        moved = BArda(spec, KEY, shared)
        moved.restore(travelling.chunks())
        moved.learn(batch_of_records(stream[start:stop]))
        travelling = moved
    assert travelling.chunks() == whole.chunks()
    assert travelling.selection().names == whole.selection().names


def test_another_hash_key_gives_the_same_bytes():
    """The key is a secret of the deployment, a snapshot is not."""
    stream, other = random_stream(seed=4, records=100), bytes(range(16))
    one, two = BArda(spec_of(), KEY), BArda(spec_of(), other)
    one.learn(batch_of_records(stream))
    two.learn(batch_of_records(stream, other))
    assert one.chunks() == two.chunks()


def test_grows_past_its_first_room():
    samples = [Sample(1.0, {f"name {number} {entry}": 1.0 for entry in range(50)}) for number in range(100)]
    learner, twin = BArda(spec_of(60), KEY), twin_of(spec_of(60))
    learner.learn(batch_of(samples))
    for sample in samples:
        twin.learn(*sample)
    assert_same_selection(learner.selection(), twin.selection())
    assert sorted(learner.chunks()) == sorted(["head", *(f"{kind}:{chunk}" for kind in "ns" for chunk in range(5))])


def test_progress_counts_what_it_says():
    learner = BArda(spec_of(loss="squared_hinge"), KEY)
    learner.learn(batch_of([Sample(1.0, {"a": 1.0}), Sample(1.0, {"a": 1.0}), Sample(-1.0, {"b": 1.0})]))
    first, second, third = learner.margins
    assert (first, third) == (0.0, 0.0)
    assert second > 0
    progress = learner.progress()
    assert progress.accuracy == pytest.approx(2 / 3)  # a margin of 0 predicts -1
    assert progress.loss == pytest.approx((1 + max(0.0, 1 - second) ** 2 + 1) / 3)
    assert progress.auc == pytest.approx(0.75)


@pytest.mark.parametrize("damage", ["cut", "version", "missing", "names", "infinite", "unknown", "twice"])
def test_broken_chunks_are_refused(damage):
    learner = BArda(spec_of(), KEY)
    learner.learn(batch_of([Sample(1.0, {"a": 1.0, "b": 2.0})]))
    chunks = learner.chunks()
    broken = {
        "cut": {"s:0": chunks["s:0"][:-8]},
        "version": {"head": b"\x09" + chunks["head"][1:]},
        "missing": {"n:0": None},
        "names": {"n:0": chunks["n:0"] + b"x"},
        "infinite": {"s:0": np.array([np.inf, 1.0, 1.0, 1.0]).tobytes()},
        "unknown": {"t:0": b""},
        "twice": {"n:0": chunks["n:0"].replace(b"b", b"a")},
    }[damage]
    damaged = {name: data for name, data in {**chunks, **broken}.items() if data is not None}
    with pytest.raises(CorruptState):
        BArda(spec_of(), KEY).restore(damaged)


def test_a_peer_that_makes_no_sense_changes_nothing():
    speaker, listener = BArda(spec_of(), KEY), BArda(spec_of(), KEY, shared=True)
    speaker.learn(batch_of(mixed(seed=1, count=50)))
    listener.hear(1, speaker.chunks(), whole=True)
    before = listener.selection()
    sums_alone = {name: data for name, data in speaker.chunks().items() if not name.startswith("n:")}
    with pytest.raises(CorruptState):
        listener.hear(2, sums_alone, whole=True)
    after = listener.selection()
    assert before.names == after.names
    assert (before.weights == after.weights).all()


def test_an_undone_name_leaves_its_row_clean():
    """The row of a name that was undone goes to the next one, here a peer's, which must not inherit its place."""
    spec, bad = spec_of(100), [Sample(1.0, {f"undone {at}": 9.0}) for at in range(40)] + [Sample(1.0, {"huge": 1e300})]
    speaker, tried, spared = BArda(spec, KEY), BArda(spec, KEY, shared=True), BArda(spec, KEY, shared=True)
    speaker.learn(batch_of([Sample(-1.0, {f"heard {at}": 1.0}) for at in range(90)]))
    assert len(tried.learn(batch_of_records([bad])).overflowed) == 1
    for learner in (tried, spared):
        learner.learn(batch_of([Sample(1.0, {f"own {at}": 2.0}) for at in range(5)]))
        learner.hear(1, speaker.chunks(), whole=True)
        learner.learn(batch_of([Sample(1.0, {f"late {at}": 3.0}) for at in range(30)]))
    assert tried.selection().names == spared.selection().names
    assert len(tried.selection().names) == 100


def test_hearing_goes_on_exactly():
    """Own sums plus the peer's, at the rounds of both: what a twin of the summed sums would keep."""
    spec = spec_of(8, "logistic", lam=0.01)
    speaker, listener = BArda(spec, KEY), BArda(spec, KEY, shared=True)
    samples = mixed(seed=6, count=600)
    for start in range(0, 600, 40):
        speaker.learn(batch_of(samples[start : start + 20]))
        listener.hear(3, speaker.changes(), whole=False)
        speaker.settled()
        listener.learn(batch_of(samples[start + 20 : start + 40]))
        assert_serves_the_sum(spec, listener, speaker)


def assert_serves_the_sum(spec, listener, speaker):
    t, sums = 0, {}
    for learner in (listener, speaker):
        t += learner.progress().samples
        size = learner._own_rows
        view = learner._rows.shard.own_order[:size] if learner is listener else np.arange(size)
        for name, pair in zip(learner._rows.names_of(view), learner._rows.shard.own[view], strict=True):
            sums[name] = sums.get(name, 0) + pair
    curvature = {name: spec.params["delta"] + np.sqrt(pair[1]) for name, pair in sums.items()}
    drag = spec.params["lambda"] * spec.params["eta"] * t
    weight = {name: -spec.params["eta"] * pair[0] / (drag + curvature[name]) for name, pair in sums.items()}
    best = sorted(weight, key=lambda name: -curvature[name] * weight[name] ** 2)[: spec.budget]
    selection = listener.selection()
    assert set(selection.names) == set(best)
    assert selection.weights == pytest.approx([weight[name] for name in selection.names], rel=1e-9)


SMALL_STREAM = """
from streamsieve.checks.streams import KEY, random_stream, batch_of
from streamsieve.learners.sample_stream.b_arda import BArda
from streamsieve.snapshot import fingerprint
from streamsieve.spec import Spec
for loss, lam in (("squared_hinge", 0.0), ("logistic", 0.01)):
    spec = Spec.parse({"name": "a", "algorithm": "b-arda", "topic": "t", "budget": 9, "loss": loss,
                       "intercept": True, "params": {"lambda": lam}})
    learner = BArda(spec, KEY)
    learner.learn(batch_of(random_stream(seed=1, records=150, names=120)))
    selection = learner.selection()
    print(fingerprint("b-arda", learner.chunks()), selection.names, selection.weights.tobytes().hex())
"""


def test_compiled_or_not_the_bits_are_the_same():
    """The bits must not depend on the compiler; and the compiled leg must have compiled."""
    outputs = []
    for disabled in ("0", "1"):
        environment = {**os.environ, "NUMBA_DISABLE_JIT": disabled, "PYTHONPATH": str(ROOT)}
        command = [sys.executable, "-W", "ignore", "-c", SMALL_STREAM]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=200)
        outputs.append(done.stdout)
    assert outputs[0] == outputs[1]
    assert learn.signatures, "the kernel was not compiled"


def test_fingerprints_tell_states_apart():
    learner = BArda(spec_of(), KEY)
    empty = fingerprint("b-arda", learner.chunks())
    learner.learn(batch_of([Sample(1.0, {"a": 1.0})]))
    assert fingerprint("b-arda", learner.chunks()) != empty
