"""What only the broker in memory can show: faults at will."""

import threading

import pytest

from broker.memory import MemoryBroker
from broker.types import Watermarks
from streamsieve.errors import BrokerDown
from tests.broker.members import Member, idle, numbered, until


@pytest.fixture
def broker() -> MemoryBroker:
    return MemoryBroker()


def _member(broker: MemoryBroker, records: int = 0) -> Member:
    broker.ensure_topic("t", 2)
    broker.producer().send_all(numbered("t", 0, range(records)))
    member = Member(broker, "t", "g", feed_from=0)
    until(lambda: member.mine, member)
    return member


def test_offsets_without_records_are_gaps_and_the_end_lies_behind_them(broker: MemoryBroker) -> None:
    member = _member(broker, 2)
    broker.skip("t", 0, 3)
    broker.producer().send_all(numbered("t", 0, [5]))
    broker.skip("t", 0, 1)
    until(lambda: 7 in member.ends[0], member)
    assert member.offsets(0) == [0, 1, 5]


def test_trimmed_records_are_out_of_range(broker: MemoryBroker) -> None:
    member = _member(broker, 10)
    broker.trim("t", 0, 4)
    assert broker.watermarks("t")[0] == Watermarks(4, 10)
    member.consumer.feed(0, 3)
    idle(member, 0.1)
    assert [partition for partition, _ in member.faults] == [0]
    member.forget()
    member.consumer.feed(0, 4)
    until(lambda: member.ends[0], member)
    assert member.offsets(0) == [4, 5, 6, 7, 8, 9]


def test_a_topic_made_anew_has_another_identity(broker: MemoryBroker) -> None:
    member = _member(broker, 10)
    before = member.consumer.topic_id()
    broker.remake("t")
    assert member.consumer.topic_id() != before
    assert member.consumer.watermarks(0) == Watermarks(0, 0)


def test_added_partitions_are_assigned(broker: MemoryBroker) -> None:
    member = _member(broker)
    broker.grow("t", 5)
    until(lambda: member.mine == set(range(5)), member)


def test_an_expired_member_hears_that_it_lost_everything_and_joins_again(broker: MemoryBroker) -> None:
    member = _member(broker)
    other = Member(broker, "t", "g")
    broker.expire(member.consumer)  # type: ignore[arg-type]
    until(lambda: other.mine == {0, 1}, other)
    member.poll()
    assert member.told[-1] == ("lost", [0, 1])
    until(lambda: len(member.mine) == len(other.mine) == 1, member, other)


def test_while_it_is_down_calls_fail_and_polls_bring_nothing(broker: MemoryBroker) -> None:
    member = _member(broker, 3)
    broker.down()
    assert member.poll() == []
    consumer = member.consumer
    for call in (broker.ping, lambda: broker.watermarks("t"), consumer.partition_count, consumer.topic_id):
        with pytest.raises(BrokerDown):
            call()
    with pytest.raises(BrokerDown):
        broker.producer().send_all([])
    broker.down(False)
    until(lambda: member.offsets(0) == [0, 1, 2], member)


def test_a_waiting_poll_wakes_when_a_record_comes(broker: MemoryBroker) -> None:
    member = _member(broker)
    idle(member, 0.05)
    sender = threading.Timer(0.1, broker.producer().send_all, [numbered("t", 0, [1])])
    sender.start()
    assert len(member.poll(10, 10.0)) == 1
    sender.join()


def test_members_in_threads_read_everything_once(broker: MemoryBroker) -> None:
    broker.ensure_topic("t", 8)
    for partition in range(8):
        broker.producer().send_all(numbered("t", partition, range(200)))
    members = [Member(broker, "t", "g") for _ in range(3)]
    threads = [threading.Thread(target=idle, args=(member, 0.5)) for member in members]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(p for member in members for p in member.mine) == list(range(8))
    assert sorted(len(member.mine) for member in members) == [2, 3, 3]
