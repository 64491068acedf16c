"""What only a real Apache Kafka can show."""

import time
from collections.abc import Callable
from functools import partial

import pytest
from confluent_kafka import Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, ConfigResource, ResourceType

from broker.kafka_broker import KafkaBroker
from broker.types import Outgoing
from tests.broker.conftest import fresh
from tests.broker.members import Member, numbered, until
from tools.stack.apache_kafka import RunningKafka

pytestmark = pytest.mark.apache


@pytest.fixture
def admin(apache_kafka: str) -> AdminClient:
    return AdminClient({"bootstrap.servers": apache_kafka})


def _transaction(bootstrap: str, topic: str, records: int, end: Callable[[Producer], None]) -> None:
    producer = Producer({"bootstrap.servers": bootstrap, "transactional.id": fresh("tx")})
    producer.init_transactions(20)
    producer.begin_transaction()
    for _ in range(records):
        producer.produce(topic, b"x", partition=0)
    producer.flush(10)
    end(producer)


def test_the_end_moves_past_markers_and_aborted_records_never_come(apache: KafkaBroker, apache_kafka: str) -> None:
    """Else the lag of a topic that ends in a marker would be 1 for ever."""
    topic = fresh("topic")
    apache.ensure_topic(topic)
    _transaction(apache_kafka, topic, 3, lambda producer: producer.commit_transaction(20))
    _transaction(apache_kafka, topic, 2, lambda producer: producer.abort_transaction(20))
    member = Member(apache, topic, fresh("group"), feed_from=0)
    until(lambda: member.ends[0] and member.ends[0][-1] == 7, member)
    assert member.offsets(0) == [0, 1, 2]
    assert apache.watermarks(topic)[0].high == 7
    member.consumer.close()


def test_a_topic_made_anew_has_another_identity(apache: KafkaBroker, admin: AdminClient) -> None:
    topic = fresh("topic")
    apache.ensure_topic(topic)
    member = Member(apache, topic, fresh("group"))
    first = member.consumer.topic_id()
    member.consumer.close()
    admin.delete_topics([topic])[topic].result(20)
    deadline = time.monotonic() + 20
    while apache.partition_count(topic):
        assert time.monotonic() < deadline
        time.sleep(0.1)
    apache.ensure_topic(topic)
    member = Member(apache, topic, fresh("group"))
    second = member.consumer.topic_id()
    member.consumer.close()
    assert first
    assert second
    assert first != second


def test_records_that_retention_took_are_a_fault(apache: KafkaBroker, admin: AdminClient) -> None:
    topic = fresh("topic")
    apache.ensure_topic(topic)
    producer = apache.producer()
    producer.send_all(numbered(topic, 0, range(10)))
    producer.close()
    next(iter(admin.delete_records([TopicPartition(topic, 0, 6)]).values())).result(20)
    assert apache.watermarks(topic)[0] == (6, 10)
    member = Member(apache, topic, fresh("group"), feed_from=2)
    until(lambda: member.faults, member)
    assert member.offsets(0) == []
    member.consumer.feed(0, 6)
    until(lambda: member.offsets(0) == [6, 7, 8, 9], member)
    member.consumer.close()


def test_a_compacted_topic_is_compacted(apache: KafkaBroker, admin: AdminClient) -> None:
    topic = fresh("topic")
    apache.ensure_topic(topic, compacted=True)
    resource = ConfigResource(ResourceType.TOPIC, topic)
    described = admin.describe_configs([resource])[resource].result(20)
    assert described["cleanup.policy"].value == "compact"


def test_advice_is_what_lag_tools_see(apache: KafkaBroker, apache_kafka: str) -> None:
    topic, group = fresh("topic"), fresh("group")
    apache.ensure_topic(topic)
    producer = apache.producer()
    producer.send_all(numbered(topic, 0, range(10)))
    producer.close()
    member = Member(apache, topic, group, feed_from=0)
    until(lambda: member.ends[0], member)
    member.consumer.advise({0: 7})
    until(lambda: _committed(apache_kafka, group, topic) == 7, member)
    member.consumer.close()
    successor = Member(apache, topic, group, feed_from=3)
    until(lambda: successor.ends[0], successor)
    assert successor.offsets(0) == [3, 4, 5, 6, 7, 8, 9]
    successor.consumer.close()


def _committed(bootstrap: str, group: str, topic: str) -> int:
    asker = Consumer({"bootstrap.servers": bootstrap, "group.id": group})
    try:
        return int(asker.committed([TopicPartition(topic, 0)], timeout=10)[0].offset)
    finally:
        asker.close()


def test_a_topic_made_after_the_subscription_is_found(apache: KafkaBroker) -> None:
    topic = fresh("late")
    member = Member(apache, topic, fresh("group"), feed_from=0)
    member.poll(1, 0.5)
    apache.ensure_topic(topic, 2)
    assert until(lambda: member.mine == {0, 1}, member) < 8
    member.consumer.close()


def test_a_member_that_stops_polling_is_told_that_all_is_gone_and_comes_back(apache_kafka: str) -> None:
    """As `lost` or, where a rebalance was under way, in part as `revoked`: the client forgets which. The fence against
    a late write is in the store."""
    broker = KafkaBroker(apache_kafka, {"max.poll.interval.ms": 3_000}, session_timeout_ms=3_000)
    topic, group = fresh("topic"), fresh("group")
    broker.ensure_topic(topic, 2)
    frozen = Member(broker, topic, group, feed_from=0)
    until(lambda: len(frozen.mine) == 2, frozen)
    heir = Member(broker, topic, group, feed_from=0)
    until(lambda: len(heir.mine) == 2, heir)
    assert frozen.told == [("assigned", [0, 1])]
    until(lambda: len(heir.mine) == len(frozen.mine) == 1, heir, frozen)
    gone = [(what, p) for what, partitions in frozen.told if what != "assigned" for p in partitions]
    assert sorted(p for _, p in gone) == [0, 1]
    assert "lost" in {what for what, _ in gone}
    for member in (heir, frozen):
        member.consumer.close()
    broker.close()


def test_a_log_that_retention_shortened_is_read_by_everyone_who_joins(apache: KafkaBroker, admin: AdminClient) -> None:
    """A client that starts anywhere but at the offset it is fed finds that out of range, and stops."""
    topic = fresh("topic")
    apache.ensure_topic(topic, 8)
    producer = apache.producer()
    producer.send_all([record for p in range(8) for record in numbered(topic, p, range(20))])
    producer.close()
    for done in admin.delete_records([TopicPartition(topic, p, 10) for p in range(8)]).values():
        done.result(20)
    for _ in range(5):
        member = Member(apache, topic, fresh("group"), feed_from=10)
        until(partial(_all_read, member, 8), member)
        member.consumer.close()


def _all_read(member: Member, partitions: int) -> bool:
    return all(member.offsets(partition) == list(range(10, 20)) for partition in range(partitions))


def test_one_of_three_brokers_dies_and_nothing_stops(apache_kafka_three: RunningKafka) -> None:
    broker = KafkaBroker(apache_kafka_three.bootstrap, session_timeout_ms=3_000)
    topic = fresh("topic")
    broker.ensure_topic(topic, 3)
    member = Member(broker, topic, fresh("group"), feed_from=0)
    producer = broker.producer()
    producer.send_all([Outgoing(topic, None, b"before", [], p) for p in range(3)])
    until(lambda: all(len(member.records[p]) == 1 for p in range(3)), member)
    apache_kafka_three.kill(1)
    try:
        for _ in range(3):
            producer.send_all([Outgoing(topic, None, b"after", [], p) for p in range(3)])
        until(lambda: all(len(member.records[p]) == 4 for p in range(3)), member, seconds=40)
        assert all(member.offsets(p) == [0, 1, 2, 3] for p in range(3))
        assert member.faults == []
        assert sum(marks.high for marks in broker.watermarks(topic).values()) == 12
    finally:
        apache_kafka_three.restart(1)
        member.consumer.close()
        producer.close()
        broker.close()
