"""Sending and topics, on every broker."""

import hashlib
import os
import threading
import zlib

from broker.protocol import Broker
from broker.truncation import KEPT_BYTES
from broker.types import Outgoing, Record, Watermarks
from tests.broker.conftest import PARTITIONS, fresh
from tests.broker.members import Member, until

HUGE = 2_000_000  # more than any of the brokers takes


def _all(broker: Broker, topic: str, count: int) -> list[Record]:
    member = Member(broker, topic, fresh("group"), feed_from=0)
    until(lambda: sum(len(records) for records in member.records.values()) == count, member)
    member.consumer.close()
    return [record for partition in sorted(member.records) for record in member.records[partition]]


def _high(broker: Broker, topic: str) -> list[int]:
    return [marks.high for _, marks in sorted(broker.watermarks(topic).items())]


def test_the_key_decides_the_partition(broker: Broker, topic: str) -> None:
    """As every client built on librdkafka does it: a feature's events all meet in one shard."""
    keys = [f"feature-{n}".encode() for n in range(40)]
    producer = broker.producer()
    producer.send_all([Outgoing(topic, key, b"", []) for key in keys])
    producer.close()
    expected = [sum(zlib.crc32(key) % PARTITIONS == partition for key in keys) for partition in range(PARTITIONS)]
    assert _high(broker, topic) == expected


def test_the_partition_that_was_said_wins(broker: Broker, topic: str) -> None:
    producer = broker.producer()
    producer.send_all([Outgoing(topic, b"key", b"", [], 2)] * 3)
    producer.send_all([])
    producer.close()
    assert _high(broker, topic) == [0, 0, 3, 0]


def test_any_thread_may_send(broker: Broker, topic: str) -> None:
    producer = broker.producer()
    records = [Outgoing(topic, None, b"x", [], 0)] * 25
    threads = [threading.Thread(target=producer.send_all, args=(records,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    producer.close()
    assert _high(broker, topic) == [100, 0, 0, 0]


def test_a_record_too_large_arrives_cut_and_the_others_whole(broker: Broker, topic: str) -> None:
    huge = os.urandom(HUGE)
    producer = broker.producer()
    producer.send_all(
        [
            Outgoing(topic, b"a", b"before", [], 0),
            Outgoing(topic, b"b", huge, [("sieve-reason", b"too-large")], 0),
            Outgoing(topic, b"c", b"after", [], 0),
        ]
    )
    producer.close()
    arrived = {record.key: record for record in _all(broker, topic, 3)}
    assert (arrived[b"a"].value, arrived[b"a"].headers) == (b"before", [])
    assert (arrived[b"c"].value, arrived[b"c"].headers) == (b"after", [])
    assert arrived[b"b"].value == huge[:KEPT_BYTES]
    assert dict(arrived[b"b"].headers) == {
        "sieve-reason": b"too-large",
        "sieve-truncated": b"1",
        "sieve-sha256": hashlib.sha256(huge).hexdigest().encode(),
    }


def test_a_huge_key_does_not_stop_the_sender(broker: Broker, topic: str) -> None:
    producer = broker.producer()
    producer.send_all([Outgoing(topic, b"k" * HUGE, b"v" * HUGE, [("stranger", b"h" * 3_000)], 1)])
    producer.close()
    assert _high(broker, topic) == [0, 1, 0, 0]


def test_asking_for_a_topic_does_not_make_it(broker: Broker) -> None:
    absent = fresh("absent")
    assert broker.watermarks(absent) == {}
    assert broker.partition_count(absent) == 0
    assert broker.watermarks(absent) == {}


def test_a_topic_is_made_once(broker: Broker, topic: str) -> None:
    broker.ensure_topic(topic, PARTITIONS)
    broker.ensure_topic(topic, PARTITIONS, compacted=True)
    assert broker.watermarks(topic) == dict.fromkeys(range(PARTITIONS), Watermarks(0, 0))
    broker.ping()
