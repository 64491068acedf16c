"""Each learner that keeps at most B weights beside its naive twin, and streams to hold them against each other."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from streamsieve.checks.streams import KEY, Sample, Stream, batch_of, random_stream
from streamsieve.learners.making import make_learner
from streamsieve.spec import Spec

EQUAL = 1e-9


class Case(NamedTuple):
    algorithm: str
    loss: str
    params: dict[str, float]
    intercept: bool = False

    def spec(self, budget, **fields):
        given = {"algorithm": self.algorithm, "loss": self.loss, "params": self.params, "intercept": self.intercept}
        return Spec.parse({"name": "kept", "topic": "samples", "budget": budget, **given, **fields})

    def learner(self, budget, shared=False, **fields):
        return make_learner(self.spec(budget, **fields), KEY, shared)

    def twin(self, budget, kind):
        params = {"lam" if name == "lambda" else name: value for name, value in self.spec(budget).params.items()}
        return kind(budget, self.loss, self.intercept, **params)

    def __str__(self):
        params = "-".join(f"{name}{value:g}" for name, value in self.params.items())
        return "-".join(filter(None, [self.loss, params, "intercept" * self.intercept]))


def sparse_stream(seed: int, samples: int, real: bool = False) -> Stream:
    """Random sparse records; real: labels are numbers, for regression."""
    stream = random_stream(seed, records=samples)
    if not real:
        return stream
    random = np.random.default_rng(seed)
    return [[Sample(sample.y * float(random.normal(2.0)), sample.x, sample.w) for sample in rec] for rec in stream]


def tied_stream(seed: int, samples: int) -> Stream:
    """Many names that always come together with value 1, so that most scores are equal to the bit."""
    random = np.random.default_rng(seed)
    groups = [[f"g{group}-{name}" for name in range(6)] for group in range(8)]
    stream = []
    for _ in range(samples):
        chosen = random.permutation(len(groups))[: 1 + int(random.integers(3))]
        names = [name for group in chosen for name in groups[group]]
        y = 1.0 if chosen.min() < 2 else -1.0
        stream.append([Sample(y, {names[at]: 1.0 for at in random.permutation(len(names))})])
    return stream


def assert_equal(case: Case, kind: type, budget: int, stream: Stream) -> None:
    """The same margin at every sample, and at the end the same support, order, weights and scores."""
    learner, twin = case.learner(budget), case.twin(budget, kind)
    assert learner.learn(batch_of(stream)).overflowed == []
    margins = np.array([twin.learn(sample.y, sample.x, sample.w) for record in stream for sample in record])
    largest = np.abs(margins).max()
    assert (np.abs(learner.margins - margins) <= EQUAL * (np.abs(margins) + largest)).all()
    selection, expected = learner.selection(), twin.selection()
    assert sorted(selection.names) == sorted(name for name, _, _ in expected)
    assert 0 < len(expected) <= budget
    there = {name: (weight, score) for name, weight, score in expected}
    largest = max(abs(weight) for weight, _ in there.values())
    for name, weight, score in zip(*selection[:3], strict=True):
        assert abs(weight - there[name][0]) <= EQUAL * (abs(there[name][0]) + largest)
        assert abs(score - there[name][1]) <= EQUAL * (abs(there[name][1]) + largest)


def parted(stream: Stream, shards: int) -> list[Stream]:
    """The stream dealt out to shards of uneven sizes."""
    cuts = [len(stream) * shard * (shard + 1) // (shards * (shards + 1)) for shard in range(shards + 1)]
    return [stream[start:stop] for start, stop in pairwise(cuts)]


def twins_of(case: Case, kind: type, budget: int, parts: list[Stream]) -> list:
    twins = []
    for part in parts:
        twins.append(case.twin(budget, kind))
        for record in part:
            for sample in record:
                twins[-1].learn(sample.y, sample.x, sample.w)
    return twins


def merged(case: Case, budget: int, parts: list[Stream]) -> tuple[dict[str, float], dict[str, float]]:
    """What a listener that has learnt nothing serves of all parts, as weights and scores by name."""
    listener = case.learner(budget, shared=True)
    for number, part in enumerate(parts):
        shard = case.learner(budget)
        shard.learn(batch_of(part))
        listener.hear(number, shard.chunks(), whole=True)
    names, weights, scores = listener.selection()[:3]
    assert (np.diff(scores) <= 0).all()
    return dict(zip(names, weights, strict=True)), dict(zip(names, scores, strict=True))


def mean_of(twins: list) -> dict[str, float]:
    """The sample-weighted mean of the twins' weights."""
    names = dict.fromkeys(name for twin in twins for name in twin.slot)
    samples = sum(twin.t for twin in twins)
    return {
        name: sum(twin.t * twin.w[twin.slot[name]] for twin in twins if name in twin.slot) / samples for name in names
    }


def best_of(scores: dict[str, float], budget: int) -> list[str]:
    """Larger score first, then first seen."""
    return sorted(scores, key=lambda name: -scores[name])[:budget]


def assert_close(found: dict[str, float], expected: dict[str, float]) -> None:
    assert found.keys() == expected.keys()
    largest = max(abs(value) for value in expected.values())
    assert all(abs(found[name] - expected[name]) <= EQUAL * (abs(expected[name]) + largest) for name in expected)
