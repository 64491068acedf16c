"""Groups, on every broker: partitions move when members come and go, and everybody is told in time."""

import logging
from collections.abc import Sequence

import pytest

from broker.protocol import Broker
from tests.broker.conftest import PARTITIONS, fresh
from tests.broker.members import Member, numbered, until

EACH = 50


def _sent(broker: Broker, topic: str, numbers: range) -> None:
    producer = broker.producer()
    for partition in range(PARTITIONS):
        producer.send_all(numbered(topic, partition, numbers))
    producer.close()


def test_members_share_and_records_go_on(broker: Broker, topic: str) -> None:
    """Told before it moves, read by exactly one member at a time, and all comes back when the other leaves."""
    group = fresh("group")
    _sent(broker, topic, range(EACH))
    first = Member(broker, topic, group, feed_from=0)
    until(lambda: all(len(first.records[p]) == EACH for p in range(PARTITIONS)), first)
    second = Member(broker, topic, group, feed_from=EACH)
    until(lambda: len(first.mine) == len(second.mine) == PARTITIONS // 2, first, second)
    assert first.mine.isdisjoint(second.mine)
    revoked = [p for what, partitions in first.told if what == "revoked" for p in partitions]
    assert sorted(revoked) == sorted(second.mine)  # cooperative: the others never stopped
    moved, first_kept = set(second.mine), set(first.mine)
    _sent(broker, topic, range(EACH, 2 * EACH))
    until(lambda: all(len(first.records[p]) == 2 * EACH for p in first_kept), first, second)
    until(lambda: all(len(second.records[p]) == EACH for p in moved), first, second)
    second.consumer.close()
    assert second.mine == set()
    assert second.told[-1] == ("revoked", sorted(moved))
    until(lambda: len(first.mine) == PARTITIONS, first)
    first.consumer.close()
    assert first.mine == set()
    assert "lost" not in {what for what, _ in first.told + second.told}
    for partition in first_kept:
        assert first.offsets(partition) == list(range(2 * EACH))
    for partition in moved:
        assert second.offsets(partition) == list(range(EACH, 2 * EACH))


def test_groups_do_not_disturb_each_other(broker: Broker, topic: str) -> None:
    one, other = (Member(broker, topic, fresh("group"), feed_from=0) for _ in range(2))
    _sent(broker, topic, range(5))
    until(lambda: all(len(m.records[p]) == 5 for m in (one, other) for p in range(PARTITIONS)), one, other)
    one.consumer.close()
    other.consumer.close()


class Clumsy(Member):
    """Fails when it is told of an assignment, once."""

    failed = False

    def assigned(self, partitions: Sequence[int]) -> None:
        super().assigned(partitions)
        if not self.failed:
            self.failed = True
            raise ValueError("clumsy")


def test_a_failure_while_being_told_comes_out_of_poll_and_nothing_is_read(
    broker: Broker, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Escaping the callback it would make the Kafka client assign at offsets of its own."""
    _sent(broker, topic, range(5))
    member = Clumsy(broker, topic, fresh("group"))
    with caplog.at_level(logging.CRITICAL, "broker.consumer"), pytest.raises(ValueError, match="clumsy"):
        until(lambda: False, member)
    assert not any(member.records.values())
    member.consumer.feed(2, 3)
    until(lambda: len(member.records[2]) == 2, member)
    assert (member.offsets(2), set(member.records)) == ([3, 4], {2})
    member.consumer.close()
