import httpx

from broker.memory import MemoryBroker
from service.app import create_app
from store.memory import MemoryStore
from streamsieve.errors import StoreDown
from tests.service.running import add_selector, claim_of, eventually, running
from tests.service.test_problems import FailingStore, assert_problem


def test_ready(client: httpx.Client) -> None:
    up = {"redis": "up", "kafka": "up", "halted": []}
    assert eventually(lambda: client.get("/readyz").json(), up) == up
    assert client.get("/readyz").status_code == 200


def test_kafka_down_is_told_but_is_no_failure(client: httpx.Client, broker: MemoryBroker) -> None:
    broker.down()
    assert eventually(lambda: client.get("/readyz").json()["kafka"][:6], "down: ") == "down: "
    assert client.get("/readyz").status_code == 200


def test_halted_partitions_are_told(client: httpx.Client, store: MemoryStore) -> None:
    registered = add_selector(store)
    store.halt(claim_of(store, registered, 1), "the topic was made anew")
    halted = [{"selector": "spam", "partition": 1, "reason": "the topic was made anew"}]
    assert eventually(lambda: client.get("/readyz").json()["halted"], halted) == halted


def test_without_redis_not_ready_but_alive() -> None:
    store = FailingStore(StoreDown("connection refused"))
    with running(create_app(store, None, writes_allowed=True)) as client:
        answer = client.get("/readyz")
        body = assert_problem(answer, 503)
        assert body["redis"] == "down: connection refused"
        assert (body["down"], body["halted"]) == ("redis", [])
        assert str(body["kafka"]).startswith("unknown")
        assert client.get("/livez").status_code == 200
        assert "sieve_redis_up 0.0" in client.get("/metrics").text
        store.error = None
        assert client.get("/livez").json() == {"status": "alive"}
        assert client.get("/readyz").json()["redis"] == "up"
