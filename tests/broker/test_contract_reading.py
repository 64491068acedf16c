"""Reading, on every broker: from where it was said, in order, nothing skipped, nothing from elsewhere."""

import random
import time
from collections.abc import Iterator

import pytest

from broker.protocol import Broker
from broker.types import Outgoing, Watermarks
from tests.broker.conftest import PARTITIONS, fresh
from tests.broker.members import Member, idle, numbered, until

RECORDS = 2_000
LAST = PARTITIONS - 1  # the partition that tests may add to


class Reader(Member):
    """Alone in its group, so it has all partitions."""

    def __init__(self, broker: Broker) -> None:
        self.topic = fresh("read")
        broker.ensure_topic(self.topic, PARTITIONS)
        self.producer = broker.producer()
        for partition in range(PARTITIONS - 1):
            self.producer.send_all(numbered(self.topic, partition, range(RECORDS)))
        super().__init__(broker, self.topic, fresh("group"))

    def read(self, partition: int, count: int) -> list[int]:
        until(lambda: len(self.records[partition]) >= count, self)
        return self.offsets(partition)


@pytest.fixture(scope="module")
def shared_reader(broker: Broker) -> Iterator[Reader]:
    """One for the module: joining a group of the embedded cluster takes 3 s."""
    reader = Reader(broker)
    until(lambda: len(reader.mine) == PARTITIONS, reader)
    yield reader
    reader.consumer.close()
    reader.producer.close()


@pytest.fixture
def reader(shared_reader: Reader) -> Iterator[Reader]:
    yield shared_reader
    for partition in range(PARTITIONS):
        shared_reader.consumer.hold(partition)
    shared_reader.forget()


def test_nothing_comes_before_it_is_fed(reader: Reader) -> None:
    idle(reader, 0.5)
    assert (reader.records, reader.ends, reader.faults) == ({}, {}, [])


def test_only_what_is_fed_comes_and_all_of_it_in_order(reader: Reader) -> None:
    reader.consumer.feed(1, 0)
    assert reader.read(1, RECORDS) == list(range(RECORDS))
    assert [record.value for record in reader.records[1]] == [str(n).encode() for n in range(RECORDS)]
    assert set(reader.records) == {1}


def test_a_poll_brings_at_most_what_was_asked_for(reader: Reader) -> None:
    reader.consumer.feed(0, 0)
    sizes = {len(reader.poll(7, 0.1)) for _ in range(30)}
    assert max(sizes) == 7


def test_a_poll_does_not_wait_for_a_full_batch(reader: Reader) -> None:
    reader.consumer.feed(0, RECORDS - 5)
    until(lambda: reader.ends[0], reader)
    reader.forget()
    reader.consumer.feed(0, RECORDS - 5)
    start = time.monotonic()
    assert reader.poll(1_000, 10.0)
    assert time.monotonic() - start < 5


def test_feeding_starts_at_the_offset(reader: Reader) -> None:
    reader.consumer.feed(0, 1_500)
    assert reader.read(0, 500) == list(range(1_500, RECORDS))


def test_after_a_seek_nothing_comes_from_before_it(reader: Reader) -> None:
    """The client's queue is full of later records at each seek; one of them would look like a gap in the log."""
    chance = random.Random(7)
    expected = 0
    reader.consumer.feed(0, expected)
    for _ in range(60):
        for record in reader.poll(chance.choice([1, 10, 300]), 0.2):
            assert record.offset == expected
            expected += 1
        if chance.random() < 0.5:
            expected = chance.randrange(RECORDS)
            reader.consumer.feed(0, expected)
    assert reader.records[0]


def test_seeks_of_one_partition_leave_the_others_alone(reader: Reader) -> None:
    reader.consumer.feed(1, 0)
    for turn in range(20):
        reader.consumer.feed(0, turn)
        reader.poll(100, 0.05)
    assert reader.read(1, RECORDS) == list(range(RECORDS))


def test_a_held_partition_rests_and_goes_on_where_it_stopped(reader: Reader) -> None:
    reader.consumer.feed(0, 0)
    reader.consumer.feed(1, 0)
    for _ in range(8):
        until(lambda: reader.poll(90, 0.2), reader)
        reader.consumer.hold(0)
        seen = len(reader.records[0])
        idle(reader, 0.05)
        assert len(reader.records[0]) == seen
        reader.consumer.resume(0)
    assert reader.read(0, RECORDS) == list(range(RECORDS))
    assert reader.read(1, RECORDS) == list(range(RECORDS))


def test_holding_before_the_first_record_loses_nothing(reader: Reader) -> None:
    reader.consumer.feed(0, 1_000)
    reader.consumer.hold(0)
    idle(reader, 0.3)
    assert reader.offsets(0) == []
    reader.consumer.resume(0)
    assert reader.read(0, 1_000) == list(range(1_000, RECORDS))


def test_hold_and_resume_of_what_was_never_fed_do_nothing(reader: Reader) -> None:
    reader.consumer.feed(0, 1_990)
    reader.consumer.hold(PARTITIONS + 5)
    reader.consumer.resume(PARTITIONS + 5)
    reader.consumer.feed(PARTITIONS + 5, 0)
    assert reader.read(0, 10) == list(range(1_990, RECORDS))


def test_the_end_is_told_after_the_last_record_and_again_after_more(reader: Reader) -> None:
    before = reader.consumer.watermarks(LAST).high
    reader.consumer.feed(LAST, before)
    until(lambda: reader.ends[LAST], reader)
    reader.producer.send_all(numbered(reader.topic, LAST, range(3)))
    until(lambda: reader.ends[LAST][-1] == before + 3, reader)
    assert reader.offsets(LAST) == [before, before + 1, before + 2]


def test_an_offset_out_of_range_is_a_fault_and_a_feed_heals_it(reader: Reader) -> None:
    reader.consumer.feed(0, RECORDS + 500)
    until(lambda: reader.faults, reader)
    idle(reader, 0.3)
    assert [partition for partition, _ in reader.faults] == [0]
    assert "out of range" in reader.faults[0][1]
    assert reader.offsets(0) == []
    reader.consumer.feed(0, 1_900)
    assert reader.read(0, 100) == list(range(1_900, RECORDS))
    reader.consumer.feed(0, 1_990)  # and a seek works as before
    reader.forget()
    assert reader.read(0, 10) == list(range(1_990, RECORDS))


def test_a_record_comes_back_as_it_was_sent(reader: Reader) -> None:
    start = reader.consumer.watermarks(LAST).high
    headers = [("content-type", b"text/x-vw"), ("twice", b"1"), ("twice", b""), ("raw", b"\xff\x00")]
    full = Outgoing(reader.topic, b"\x00key", b"\xffvalue", headers, LAST)
    tombstone = Outgoing(reader.topic, b"gone", None, [], LAST)
    reader.producer.send_all([full, tombstone])
    reader.consumer.feed(LAST, start)
    until(lambda: len(reader.records[LAST]) == 2, reader)
    first, second = reader.records[LAST]
    assert (first.topic, first.partition, first.offset) == (reader.topic, LAST, start)
    assert (first.key, first.value, first.headers) == (full.key, full.value, headers)
    assert (second.key, second.value, second.headers) == (b"gone", None, [])
    assert abs(first.timestamp / 1_000 - time.time()) < 60
    assert first.leader_epoch == 0


def test_a_leader_epoch_that_fits_is_accepted(reader: Reader) -> None:
    reader.consumer.feed(0, 1_995, leader_epoch=0)
    assert reader.read(0, 5) == list(range(1_995, RECORDS))


def test_what_the_consumer_says_of_its_topic(reader: Reader, broker: Broker) -> None:
    assert reader.consumer.watermarks(0) == Watermarks(0, RECORDS)
    assert reader.consumer.partition_count() == broker.partition_count(reader.topic) == PARTITIONS
    assert reader.consumer.topic_id() == reader.consumer.topic_id()


def test_advice_changes_nothing(reader: Reader) -> None:
    reader.consumer.advise({0: 17})
    reader.consumer.advise({})
    reader.consumer.feed(0, 1_998)
    assert reader.read(0, 2) == [1_998, 1_999]
