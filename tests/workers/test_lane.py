import copy
import json
import logging

import pytest

from streamsieve.learners.making import make_learner
from tests.workers.harness import TOPIC, UnluckyStore, World, reference, samples
from workers.lane import Deployment, Lane

POISON = [b"{", b'{"x": {"a": 1}}', b'{"y": 1, "x": {"a": NaN}}', b'{"y": 5, "x": {"a": 1}}', None, b"\xff\xfe"]


def test_records_are_learnt_counted_and_served():
    world = World()
    values = samples(200)
    lane = world.lane()
    world.send(values)
    world.turn(lane)
    assert world.accounts().applied == 200
    assert world.bytes() == reference(world.registered.spec, values)
    learner = make_learner(world.registered.spec, bytes(16))
    learner.restore(world.store.load(world.key()).chunks)
    selection = learner.selection()
    assert world.served() == dict(zip(selection.names, selection.weights.tolist(), strict=True))


def test_the_served_set_is_announced_once_a_second_at_most_and_when_it_changed():
    world = World()
    lane = world.lane()
    for batch in range(4):
        world.send(samples(50, seed=batch))
        world.turn(lane, times=10, seconds=0.3)
    world.turn(lane, times=20)
    announced = [json.loads(record.value or b"") for record in world.broker.records("spam.features")]
    versions = [each["version"] for each in announced]
    assert 2 <= len(versions) <= 13
    assert versions == sorted(set(versions))
    assert {each["feature"]: each["weight"] for each in announced[-1]["features"]} == world.served()


def test_refused_records_are_dead_letters_with_their_origin():
    world = World()
    lane = world.lane()
    good = samples(20)
    world.send([*good[:10], *POISON, *good[10:]])
    world.turn(lane)
    accounts = world.accounts()
    assert (accounts.applied, accounts.dead_lettered) == (20, len(POISON))
    letters = world.broker.records(f"{TOPIC}.dlq")
    assert [letter.value for letter in letters] == POISON
    headers = [dict(letter.headers) for letter in letters]
    assert [int(each["sieve-offset"]) for each in headers] == list(range(10, 10 + len(POISON)))
    assert {each["sieve-topic"] for each in headers} == {TOPIC.encode()}
    assert {letter.key for letter in letters} == {b"key"}
    assert world.bytes() == reference(world.registered.spec, good)


def test_offsets_without_a_record_are_skipped_in_the_middle_and_at_the_tail():
    world = World()
    lane = world.lane()
    world.send(samples(3))
    world.broker.skip(TOPIC, 0, 4)
    world.send(samples(2))
    world.broker.skip(TOPIC, 0, 1)
    world.turn(lane)
    accounts = world.accounts()
    assert (accounts.next_offset, accounts.applied, accounts.skipped) == (10, 5, 5)


def test_a_store_that_is_down_is_waited_for():
    store = UnluckyStore()
    world = World(store=store)
    lane = world.lane()
    values = samples(90)
    world.send(values[:30])
    world.turn(lane)
    store.down = True
    world.send(values[30:60])
    world.turn(lane)
    world.send(values[60:])
    world.turn(lane)
    assert world.accounts().applied == 30
    store.down = False
    world.turn(lane)
    assert world.bytes() == reference(world.registered.spec, values)


def test_a_lost_reply_is_answered_by_sending_the_same_commit_again():
    store = UnluckyStore()
    world = World(store=store)
    lane = world.lane()
    values = samples(60)
    for at in range(0, 60, 20):
        store.lose_replies = 1
        world.send(values[at : at + 20])
        world.turn(lane)
    assert world.accounts().applied == 60
    assert world.bytes() == reference(world.registered.spec, values)


def test_a_fenced_lane_writes_nothing_more_and_joins_anew():
    world = World()
    lane = world.lane()
    world.send(samples(10))
    world.turn(lane)
    before = world.bytes()
    world.store.claim(world.key())  # a new owner
    world.send(samples(10, seed=1))
    lane.run()  # ends by itself
    assert world.bytes() == before
    assert world.metrics.registry.get_sample_value("sieve_fenced_total", {"selector": "spam", "partition": "0"}) == 1


def test_a_store_that_went_back_is_replayed():
    world = World()
    lane = world.lane()
    values = samples(90)
    world.send(values[:30])
    world.turn(lane)
    shards = world.store._shards
    tail_lost = copy.deepcopy(shards[world.key()])
    world.send(values[30:60])
    world.turn(lane)
    shards[world.key()] = tail_lost
    world.send(values[60:])
    world.turn(lane)
    assert world.accounts().applied == 90
    assert world.bytes() == reference(world.registered.spec, values)


def test_an_emptied_store_is_told_and_rebuilt(caplog: pytest.LogCaptureFixture):
    world = World()
    known = {}
    lane = world.lane(known)
    values = samples(40)
    world.send(values)
    world.turn(lane)
    world.store._shards.clear()
    world.send(samples(1, seed=9))
    lane.run()
    again = world.lane(known)
    with caplog.at_level(logging.CRITICAL):
        world.turn(again)
    assert "the store lost offset" in caplog.text
    assert world.bytes() == reference(world.registered.spec, values + samples(1, seed=9))


def test_an_emptied_store_whose_log_no_longer_reaches_back_halts():
    world = World()
    known = {}
    lane = world.lane(known)
    world.send(samples(40))
    world.turn(lane)
    world.store._shards.clear()
    world.broker.trim(TOPIC, 0, 20)
    world.send(samples(1, seed=9))
    lane.run()
    world.turn(world.lane(known))
    [status] = world.store.statuses("spam", world.registered.incarnation, 1)
    assert "emptied" in status.halted
    assert status.accounts is not None
    assert status.accounts.applied == 0


@pytest.mark.parametrize("fault", ["retention", "recreated"])
def test_a_log_that_does_not_hold_the_offset_halts_the_partition(fault: str):
    world = World()
    lane = world.lane()
    world.send(samples(10))
    world.turn(lane)
    lane._consumer.close()
    world.send(samples(10, seed=1))
    if fault == "retention":
        world.broker.trim(TOPIC, 0, 15)
    else:
        world.broker.remake(TOPIC)
        world.send(samples(30, seed=2))
    world.turn(world.lane())
    [status] = world.store.statuses("spam", world.registered.incarnation, 1)
    assert status.halted
    assert world.accounts().applied == 10


def test_a_second_member_takes_over_without_losing_or_doubling():
    world = World(partitions=4, peers="none")
    first = world.lane()
    values = {partition: samples(60, seed=partition) for partition in range(4)}
    for partition, each in values.items():
        world.send(each[:30], partition)
    world.turn(first)
    second = world.lane()
    world.turn(first, second, seconds=0.05)
    for partition, each in values.items():
        world.send(each[30:], partition)
    world.turn(first, second)
    assert len(first._shards) == len(second._shards) == 2
    first._consumer.close()
    world.turn(second)
    for partition, each in values.items():
        assert world.accounts(partition).applied == 60
        assert world.bytes(partition) == reference(world.registered.spec, each)


@pytest.mark.parametrize("peers", ["shared", "none"])
def test_what_is_served_is_the_sum_of_the_committed_shards(peers: str):
    world = World(partitions=3, peers=peers)
    lane = world.lane()
    for partition in range(3):
        world.send(samples(100, seed=partition), partition)
    world.turn(lane, times=12)
    merged = make_learner(world.registered.spec, bytes(16), shared=True)
    for partition in range(3):
        merged.hear(partition, world.store.load(world.key(partition)).chunks, whole=True)
    selection = merged.selection()
    expected = dict(zip(selection.names, selection.weights.tolist(), strict=True))
    assert world.served() == pytest.approx(expected, rel=1e-9)
    top = world.store.top("spam", world.registered.incarnation)
    assert top is not None
    assert (top.applied, top.samples) == (300, 300)


def test_start_latest_reads_only_what_comes_after_the_first_claim():
    world = World(start="latest")
    world.send(samples(10))
    lane = world.lane()
    world.turn(lane)
    world.send(samples(5, seed=1))
    world.turn(lane)
    accounts = world.accounts()
    assert (accounts.first_offset, accounts.next_offset, accounts.applied) == (10, 15, 5)


def test_a_broker_that_is_down_is_waited_for():
    world = World()
    lane = world.lane()
    values = samples(40)
    world.send([*values[:20], b"{"])
    world.turn(lane, times=1, seconds=0.0)
    world.turn(lane)
    world.broker.down()
    world.turn(lane)
    world.broker.down(False)
    world.send(values[20:])
    world.turn(lane)
    accounts = world.accounts()
    assert (accounts.applied, accounts.dead_lettered) == (40, 1)


def test_a_topic_that_grows_is_joined_anew_with_all_its_partitions():
    world = World(partitions=1, peers="none")
    lane = world.lane()
    world.send(samples(10))
    world.turn(lane)
    world.broker.grow(TOPIC, 2)
    lane.run()  # ends by itself
    world.partitions = 2
    world.send(samples(10, seed=1), partition=1)
    world.turn(world.lane())
    assert world.accounts(1).applied == 10
    assert world.accounts(0).applied == 10


def test_start_latest_counts_from_when_the_selector_was_first_seen():
    """Joining a group takes seconds; what is sent meanwhile is not skipped."""
    world = World(start="latest")
    world.send(samples(10))
    lane = Lane(
        world.registered, Deployment(world.store, world.broker, world.metrics, clock=world.clock), 1, {}, {0: 10},
        lambda: False,
    )  # fmt: skip
    world.send(samples(5, seed=1))
    world.turn(lane)
    accounts = world.accounts()
    assert (accounts.first_offset, accounts.next_offset, accounts.applied) == (10, 15, 5)
