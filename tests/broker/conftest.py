"""Every broker there is, behind one fixture."""

import secrets
from collections.abc import Iterator

import pytest

from broker.embedded import SESSION_TIMEOUT_MS
from broker.kafka_broker import KafkaBroker
from broker.memory import MemoryBroker
from broker.protocol import Broker

PARTITIONS = 4  # what the embedded cluster gives every topic
KINDS = ["memory", "embedded", pytest.param("apache", marks=pytest.mark.apache)]
CONFIG: dict[str, dict[str, object]] = {
    "embedded": {"message.max.bytes": 1_000_000},  # it takes any size; here the client itself refuses
    "apache": {},
}


@pytest.fixture(scope="module", params=KINDS)
def broker(request: pytest.FixtureRequest) -> Iterator[Broker]:
    made: Broker
    if request.param == "memory":
        made = MemoryBroker()
    else:
        bootstrap = request.getfixturevalue(f"{request.param}_kafka")
        made = KafkaBroker(bootstrap, CONFIG[request.param], session_timeout_ms=SESSION_TIMEOUT_MS)
    yield made
    made.close()


@pytest.fixture
def apache(apache_kafka: str) -> Iterator[KafkaBroker]:
    broker = KafkaBroker(apache_kafka, session_timeout_ms=SESSION_TIMEOUT_MS)
    yield broker
    broker.close()


def fresh(name: str) -> str:
    """A topic or group that no other test uses."""
    return f"{name}-{secrets.token_hex(4)}"


@pytest.fixture
def topic(broker: Broker) -> str:
    name = fresh("topic")
    broker.ensure_topic(name, PARTITIONS)
    return name
