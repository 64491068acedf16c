"""When no broker answers: an exception where an answer was asked for, silence while polling, and an end in time."""

import gc
import logging
import time

import pytest

from broker.embedded import start_embedded
from broker.kafka_broker import KafkaBroker
from streamsieve.errors import BadSpec, BrokerDown
from tests.broker.conftest import fresh
from tests.broker.members import Member, idle, numbered, until


@pytest.fixture
def nowhere() -> KafkaBroker:
    return KafkaBroker("127.0.0.1:1", answer_seconds=0.3)


def test_settings_that_librdkafka_does_not_know_are_told_by_name() -> None:
    broker = KafkaBroker("127.0.0.1:1", {"no.such.setting": 1})
    for make in (broker.ping, lambda: broker.consumer("t", "g", None), lambda: broker.producer().send_all([])):  # type: ignore[arg-type]
        with pytest.raises(BadSpec, match=r"no\.such\.setting"):
            make()


def test_questions_raise(nowhere: KafkaBroker) -> None:
    questions = [
        nowhere.ping,
        lambda: nowhere.watermarks("t"),
        lambda: nowhere.partition_count("t"),
        lambda: nowhere.ensure_topic("t"),
    ]
    for ask in questions:
        with pytest.raises(BrokerDown):
            ask()
    nowhere.close()


def test_sending_raises_after_its_time(nowhere: KafkaBroker) -> None:
    producer = nowhere.producer()
    start = time.monotonic()
    for _ in range(2):
        with pytest.raises(BrokerDown, match="3 of 3"):
            producer.send_all(numbered("t", 0, range(3)), seconds=0.5)
    producer.close()
    assert 1.0 <= time.monotonic() - start < 4


def test_polling_brings_nothing_is_logged_once_and_closes(
    nowhere: KafkaBroker, caplog: pytest.LogCaptureFixture
) -> None:
    member = Member(nowhere, "t", "g")
    with caplog.at_level(logging.WARNING, "broker.client_errors"):
        idle(member, 2.5)
    assert (member.told, member.faults) == ([], [])
    said = [record.getMessage() for record in caplog.records if record.name == "broker.client_errors"]
    assert 1 <= len(said) == len(set(said))
    start = time.monotonic()
    member.consumer.close()
    assert time.monotonic() - start < 5


def test_a_broker_that_dies_leaves_a_member_that_waits_and_closes() -> None:
    with start_embedded() as kafka:
        broker = KafkaBroker(kafka.bootstrap, session_timeout_ms=3_000, answer_seconds=0.5)
        topic = fresh("topic")
        broker.ensure_topic(topic)
        member = Member(broker, topic, "g", feed_from=0)
        until(lambda: len(member.mine) == 4, member)
    idle(member, 1.0)
    member.consumer.advise({0: 1})
    with pytest.raises(BrokerDown):
        member.consumer.watermarks(0)
    start = time.monotonic()
    member.consumer.close()
    assert time.monotonic() - start < 5
    assert member.mine == set()
    broker.close()


def test_a_member_that_was_never_closed_does_not_hang_the_garbage_collector() -> None:
    """It would, in the client's own destructor, where a revocation waits to be told."""
    with start_embedded() as kafka:
        broker = KafkaBroker(kafka.bootstrap, session_timeout_ms=3_000)
        broker.ensure_topic("t")
        members = [Member(broker, "t", "g", feed_from=0)]
        until(lambda: len(members[0].mine) == 4, members[0])
        newcomer = Member(broker, "t", "g")
        idle(newcomer, 5.0)
        told = members.pop().told
        start = time.monotonic()
        gc.collect()
        assert time.monotonic() - start < 5
        assert told == [("assigned", [0, 1, 2, 3])]
        until(lambda: len(newcomer.mine) == 4, newcomer)
        newcomer.consumer.close()
        broker.close()
