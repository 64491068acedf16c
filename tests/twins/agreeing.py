"""Holding a learner against its twin, sample after sample."""

from collections.abc import Sequence

import numpy as np

from streamsieve.checks.streams import KEY, Sample, Stream, random_stream
from streamsieve.learners.making import make_learner
from streamsieve.spec import Spec
from tests.twins.batches import batch_of

LOSSES = ("squared_hinge", "logistic")


def learner_of(algorithm, shared=False, **fields):
    spec = {"name": "twin", "topic": "t", "algorithm": algorithm, "budget": 12, **fields}
    return make_learner(Spec.parse(spec), KEY, shared)


def samples_of(stream: Stream) -> list[Sample]:
    return [sample for record in stream for sample in record]


def plain_samples(seed: int, count: int) -> list[Sample]:
    """Values of all kinds, few ties."""
    return samples_of(random_stream(seed, count, names=150, samples_a_record=1))[:count]


def tied_samples(seed: int, count: int, names: int = 40) -> list[Sample]:
    """Values of one size only: many names have equal sums all along, so that the tie rule decides."""
    random = np.random.default_rng(seed)
    samples = []
    for _ in range(count):
        group = int(random.integers(names // 4))
        x = {f"n{4 * group + member}": 1.0 for member in range(4)}  # four names that always come together
        samples.append(Sample(1.0 if group % 2 == int(random.random() < 0.2) else -1.0, x))
    return samples


def assert_agree(learner, twin, samples: Sequence[Sample], every: int = 7) -> None:
    """Margins of every sample, the selection now and then: 1e-9 of the value plus the largest, the same names."""
    for start in range(0, len(samples), every):
        part = samples[start : start + every]
        learner.learn(batch_of(part))
        expected = [twin.learn(*sample) for sample in part]
        np.testing.assert_allclose(learner.margins, expected, rtol=1e-9, atol=1e-9 * max(map(abs, expected)) + 1e-15)
        assert_same_selection(learner.selection(), twin.selection())


def assert_same_selection(selection, expected) -> None:
    assert selection.names == [name for name, _, _ in expected]
    for numbers, column in ((selection.weights, 1), (selection.scores, 2)):
        wanted = np.array([row[column] for row in expected])
        np.testing.assert_allclose(numbers, wanted, rtol=1e-9, atol=1e-9 * abs(wanted).max(initial=0.0))
