from functools import partial

import httpx
import pytest

from broker.memory import MemoryBroker
from broker.types import Outgoing
from service.app import create_app
from service.detail import progressive
from store.memory import MemoryStore
from store.types import Accounts, ShardStatus
from streamsieve.spec import Spec
from tests.service.running import add_selector, claim_of, commit_first, eventually, publish, running, spec_json


def test_create_list_get_delete(client: httpx.Client) -> None:
    assert client.get("/selectors").json() == []
    created = client.post("/selectors", json=spec_json())
    full = Spec.parse(spec_json()).as_json()
    assert (created.status_code, created.headers["location"], created.json()) == (201, "/selectors/spam", full)
    assert client.get("/selectors").json() == [full]
    one = client.get(created.headers["location"]).json()
    assert {name: one[name] for name in full} == full
    gone = client.delete("/selectors/spam")
    assert (gone.status_code, gone.content) == (204, b"")
    assert client.get("/selectors/spam").status_code == 404
    assert client.get("/selectors").json() == []
    assert client.delete("/selectors/spam").status_code == 404


def test_what_get_gives_post_takes(client: httpx.Client, store: MemoryStore) -> None:
    client.post("/selectors", json=spec_json(half_life=None, limits={"max_features": 3, "max_value": 2.5}))
    (listed,) = client.get("/selectors").json()
    client.delete("/selectors/spam")
    assert client.post("/selectors", json=listed).json() == listed


def test_selectors_are_listed_by_name(client: httpx.Client) -> None:
    for name in ("c", "a", "b"):
        client.post("/selectors", json=spec_json(name))
    assert [one["name"] for one in client.get("/selectors").json()] == ["a", "b", "c"]


def test_a_name_that_is_taken_is_a_conflict(client: httpx.Client) -> None:
    client.post("/selectors", json=spec_json())
    again = client.post("/selectors", json=spec_json(budget=9))
    assert again.status_code == 409
    assert client.get("/selectors/spam").json()["budget"] == 5


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"budget": 0}, "budget"),
        ({"budget": 10**400}, "budget"),
        ({"name": "../x"}, "name"),
        ({"algorithm": "nope"}, "algorithm"),
        ({"params": {"eta": -1}}, "params.eta"),
        ({"params": {"eta": 10**400}}, "params.eta"),
        ({"params": {"nope": 1}}, "params.nope"),
        ({"limits": {"max_value": 10**400}}, "limits.max_value"),
        ({"loss": "nope"}, "loss"),
        ({"surprise\u2028": 1}, "surprise\u2028"),
    ],
)
def test_a_bad_spec_names_the_field(empty_client: httpx.Client, change: dict[str, object], field: str) -> None:
    answer = empty_client.post("/selectors", json=spec_json() | change)
    assert answer.status_code == 422
    assert [error["field"] for error in answer.json()["errors"]] == [field]
    assert empty_client.get("/selectors").json() == []


def test_a_spec_that_is_no_object(empty_client: httpx.Client) -> None:
    assert empty_client.post("/selectors", json=[1]).status_code == 422


def test_what_another_service_creates_is_seen_soon(client: httpx.Client, store: MemoryStore) -> None:
    assert client.get("/selectors").json() == []
    add_selector(store)
    assert client.get("/selectors/spam").status_code == 200
    assert eventually(lambda: len(client.get("/selectors").json()), 1, seconds=0.5) == 1


def test_books_before_anything_was_read(client: httpx.Client, store: MemoryStore) -> None:
    add_selector(store, partitions=1)
    body = client.get("/selectors/spam").json()
    assert (body["applied"], body["version"]) == (0, 0)
    assert body["progressive"] == {"accuracy": None, "loss": None, "auc": None}
    assert body["partitions"] == [
        {
            "partition": 0,
            "first_offset": None,
            "next_offset": None,
            "applied": 0,
            "dead_lettered": 0,
            "skipped": 0,
            "lag": None,
            "halted": None,
        }
    ]


def test_books_add_up_over_partitions(client: httpx.Client, store: MemoryStore) -> None:
    registered = add_selector(store, partitions=3)
    first, second = claim_of(store, registered, 0), claim_of(store, registered, 1)
    commit_first(store, first, Accounts(10, 16, applied=3, dead_lettered=2, skipped=1, samples=30), (30, 15, 6.0, 0.5))
    commit_first(store, second, Accounts(0, 10, applied=10, samples=10), (10, 10, 2.0, float("nan")))
    store.halt(second, "offset 10 is no longer in the log")
    version = publish(store, registered, first, ["a"]).version
    body = client.get("/selectors/spam").json()
    sums = {name: body[name] for name in ("applied", "dead_lettered", "skipped", "samples", "version")}
    assert sums == {"applied": 13, "dead_lettered": 2, "skipped": 1, "samples": 40, "version": version}
    assert body["progressive"] == {"accuracy": 25 / 40, "loss": 8 / 40, "auc": 0.5}
    told = [(p["first_offset"], p["next_offset"], p["applied"], p["halted"]) for p in body["partitions"]]
    assert told == [(10, 16, 3, None), (0, 10, 10, "offset 10 is no longer in the log"), (None, None, 0, None)]


def lags(client: httpx.Client) -> list[int | None]:
    return [partition["lag"] for partition in client.get("/selectors/spam").json()["partitions"]]


def test_lag_comes_from_the_broker_and_reads_go_on_without_it(
    client: httpx.Client, store: MemoryStore, broker: MemoryBroker
) -> None:
    registered = add_selector(store)
    broker.ensure_topic("spam-samples", 2)
    sent = [Outgoing("spam-samples", None, b"{}", [], partition) for partition in (0, 0, 0, 1)]
    broker.producer().send_all(sent)
    commit_first(store, claim_of(store, registered), Accounts(0, 1, applied=1))
    assert eventually(partial(lags, client), [2, 1]) == [2, 1]
    broker.down()
    assert eventually(partial(lags, client), [None, None]) == [None, None]
    assert client.get("/readyz").json()["kafka"].startswith("down: ")
    broker.down(False)
    assert eventually(partial(lags, client), [2, 1]) == [2, 1]


def test_writes_are_refused_unless_allowed(store: MemoryStore) -> None:
    add_selector(store)
    with running(create_app(store, None, writes_allowed=False)) as client:
        refused = [client.post("/selectors", json=spec_json("two")), client.delete("/selectors/spam")]
        assert [answer.status_code for answer in refused] == [403, 403]
        assert client.post("/selectors", content=b"x" * 2_000_000).status_code == 403
        assert [one["name"] for one in client.get("/selectors").json()] == ["spam"]


def test_real_labels_have_a_loss_but_no_accuracy() -> None:
    nan = float("nan")
    shards = [
        ShardStatus(partition, None, progress, "", 1, 0.0, "")
        for partition, progress in enumerate([(4.0, nan, 6.0, nan), (0.0, 0.0, 0.0, nan)])
    ]
    assert progressive(shards).model_dump() == {"accuracy": None, "loss": 1.5, "auc": None}
