"""Learners whose model is not a sum: each partition learns for itself, and the merge of all is served."""

import pytest

from streamsieve.decode.decoder import Decoder
from streamsieve.learners.making import make_learner
from tests.workers.harness import World, samples

SPECS = [
    {"algorithm": "b-amd", "params": {"lambda": 0.01}},
    {"algorithm": "ofs", "intercept": True},
    {"algorithm": "sofs"},
    {"algorithm": "iht", "loss": "squared"},
    {"algorithm": "batch-iht", "params": {"batch": 7}},
]


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec["algorithm"])
def test_the_served_set_is_the_merge_of_the_shards(spec):
    world = World(partitions=3, **spec)
    parts = [samples(count, seed) for seed, count in enumerate((90, 40, 10))]
    for partition, values in enumerate(parts):
        world.send(values, partition)
    lane = world.lane()
    world.turn(lane, times=8)
    given = world.registered.spec
    merged = make_learner(given, bytes(16), shared=True)
    decoder = Decoder(given.format, given.labels, given.all_limits(), bytes(16))
    for partition, values in enumerate(parts):
        alone = make_learner(given, bytes(16))
        alone.learn(decoder.decode(values).batch)
        merged.hear(partition, alone.chunks(), whole=True)
        assert world.store.load(world.key(partition)).chunks == alone.chunks()
    names, weights = merged.selection()[:2]
    assert 0 < len(names) <= given.budget
    assert world.served() == dict(zip(names, weights.tolist(), strict=True))


def test_real_labels_have_no_accuracy_in_the_store():
    world = World(algorithm="iht", loss="squared")
    world.send([b'{"y": 2.5, "x": {"a": 1}}'])
    world.turn(world.lane())
    count, correct, loss, auc = world.store.statuses("spam", world.registered.incarnation, 1)[0].progress
    assert (count, loss) == (1, 6.25)
    assert correct != correct
    assert auc != auc
