"""A member that is killed: its partitions move on after the session timeout, and not before."""

import subprocess
import sys
import textwrap

import pytest

from broker.embedded import SESSION_TIMEOUT_MS
from broker.kafka_broker import KafkaBroker
from tests.broker.conftest import PARTITIONS, fresh
from tests.broker.members import Member, until

VICTIM = textwrap.dedent(f"""
    import sys
    from broker.kafka_broker import KafkaBroker
    from tests.broker.members import Member, until
    broker = KafkaBroker(sys.argv[1], session_timeout_ms={SESSION_TIMEOUT_MS})
    member = Member(broker, sys.argv[2], sys.argv[3])
    until(lambda: len(member.mine) == {PARTITIONS}, member)
    print("has them", flush=True)
    until(lambda: False, member, seconds=60)
""")


@pytest.mark.parametrize("kind", ["embedded", pytest.param("apache", marks=pytest.mark.apache)])
def test_a_killed_members_partitions_move_on(kind: str, request: pytest.FixtureRequest) -> None:
    bootstrap = request.getfixturevalue(f"{kind}_kafka")
    broker = KafkaBroker(bootstrap, session_timeout_ms=SESSION_TIMEOUT_MS)
    topic, group = fresh("topic"), fresh("group")
    broker.ensure_topic(topic, PARTITIONS)
    with subprocess.Popen([sys.executable, "-c", VICTIM, bootstrap, topic, group], stdout=subprocess.PIPE) as victim:
        assert victim.stdout is not None
        assert victim.stdout.readline() == b"has them\n"
        victim.kill()
    heir = Member(broker, topic, group, feed_from=0)
    took = until(lambda: len(heir.mine) == PARTITIONS, heir)
    assert took < SESSION_TIMEOUT_MS / 1_000 + 8
    heir.consumer.close()
    broker.close()
