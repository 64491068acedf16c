"""When no broker answers: an exception where an answer was asked for, silence while polling, and an end in time."""

import logging
import subprocess
import sys
import time
from collections.abc import Callable

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
    makers: list[Callable[[], object]] = [
        broker.ping,
        lambda: Member(broker, "t", "g"),
        lambda: broker.producer().send_all([]),
    ]
    for make in makers:
        with pytest.raises(BadSpec, match=r"no\.such\.setting"):
            make()


def test_questions_raise(nowhere: KafkaBroker) -> None:
    questions: list[Callable[[], object]] = [
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


LEFT_OPEN = """
import gc
from broker.embedded import start_embedded
from broker.kafka_broker import KafkaBroker
from tests.broker.members import Member, until
kafka = start_embedded()
broker = KafkaBroker(kafka.bootstrap, session_timeout_ms=3_000)
broker.ensure_topic("t")
members = [Member(broker, "t", "g", feed_from=0)]
until(lambda: len(members[0].mine) == 4, *members)
members.append(Member(broker, "t", "g", feed_from=0))
until(lambda: all(len(member.mine) == 2 for member in members), *members)
kafka.close()
members.clear()
gc.collect()
print("collected")
"""


def test_members_that_were_never_closed_do_not_hang_the_garbage_collector() -> None:
    """Left to itself the client's destructor spins for ever there, out of reach of any signal: hence a process."""
    done = subprocess.run([sys.executable, "-c", LEFT_OPEN], capture_output=True, timeout=40, check=True)
    assert done.stdout == b"collected\n"
