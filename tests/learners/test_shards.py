"""Many shards that tell each other in time learn as well as one: the exchange rule, simulated."""

import numpy as np
import pytest

from streamsieve.checks.streams import KEY, Sample
from streamsieve.learners.sample_stream.b_arda import BArda
from streamsieve.spec import Spec
from tests.twins.batches import batch_of, cut

SAMPLES, NAMES, FEATURES = 8_000, 2_000, 12
SPEC = Spec.parse({"name": "a", "algorithm": "b-arda", "topic": "t", "budget": 100})


@pytest.fixture(scope="module")
def stream():
    random = np.random.default_rng(11)
    reach = np.cumsum(1.0 / (np.arange(NAMES) + 5.0))
    words = np.searchsorted(reach / reach[-1], random.random((SAMPLES, FEATURES)))
    truth = random.normal(size=NAMES) * (np.arange(NAMES) < 120)
    labels = np.where(truth[words].sum(axis=1) + 0.3 * random.normal(size=SAMPLES) > 0, 1.0, -1.0)
    names = [f"w{number}" for number in range(NAMES)]
    return [Sample(y, {names[word]: 1.0 for word in row}) for y, row in zip(labels, words, strict=True)]


class SimulatedShard:
    """A partition's worker: learns its own samples, commits, reads what the others committed since it last looked."""

    def __init__(self, samples):
        self.learner = BArda(SPEC, KEY, shared=True)
        self.batch, self.at = batch_of(samples), 0
        self.commits = 0
        self.changed: dict[str, tuple[int, bytes]] = {}
        self.seen: dict[int, int] = {}

    def learn(self, count):
        stop = min(self.at + count, self.batch.sample_count)
        self.learner.learn(cut(self.batch, self.at, stop))
        self.at = stop

    def commit(self):
        self.commits += 1
        self.changed |= {name: (self.commits, data) for name, data in self.learner.changes().items()}
        self.learner.settled()

    def read(self, number, other):
        news = {name: data for name, (commit, data) in other.changed.items() if commit > self.seen.get(number, 0)}
        self.learner.hear(number, news, whole=False)
        self.seen[number] = other.commits

    def rounds(self, shards):
        return self.at + sum(shard.at for number, shard in enumerate(shards) if number in self.seen)


def simulate(samples, partitions):
    """Exchange after max(1, floor(max(64, t / 100) / P)) own samples."""
    shards = [SimulatedShard(samples[number::partitions]) for number in range(partitions)]
    while any(shard.at < shard.batch.sample_count for shard in shards):
        for number, shard in enumerate(shards):
            shard.learn(max(1, int(max(64, shard.rounds(shards) / 100) / partitions)))
            shard.commit()
            for other in range(partitions):
                if other != number:
                    shard.read(other, shards[other])
    return [shard.learner for shard in shards]


def test_sixteen_shards_predict_as_well_as_one(stream):
    alone = BArda(SPEC, KEY)
    alone.learn(batch_of(stream))
    shards = simulate(stream, 16)
    progress = [shard.progress() for shard in shards]
    assert sum(each.samples for each in progress) == SAMPLES
    accuracy = sum(each.samples * each.accuracy for each in progress) / SAMPLES
    assert alone.progress().accuracy > 0.75  # the stream can be learnt at all
    assert abs(accuracy - alone.progress().accuracy) <= 0.01


def test_shards_that_never_tell_each_other_are_worse(stream):
    """Else the test above would show nothing."""
    shards = [BArda(SPEC, KEY) for _ in range(16)]
    for number, shard in enumerate(shards):
        shard.learn(batch_of(stream[number::16]))
    alone = BArda(SPEC, KEY)
    alone.learn(batch_of(stream))
    accuracy = np.mean([shard.progress().accuracy for shard in shards])
    assert accuracy < alone.progress().accuracy - 0.01
