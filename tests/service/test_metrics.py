from functools import partial

import httpx
from prometheus_client.parser import text_string_to_metric_families

from service.app import create_app
from store.memory import MemoryStore
from store.types import Accounts
from tests.service.running import add_selector, claim_of, commit_first, eventually, running


def samples(client: httpx.Client, name: str) -> dict[tuple[str, ...], float]:
    families = text_string_to_metric_families(client.get("/metrics").text)
    found = [sample for family in families for sample in family.samples if sample.name == name]
    return {tuple(sample.labels.values()): sample.value for sample in found}


def test_requests_are_counted_by_route_template(client: httpx.Client, store: MemoryStore) -> None:
    add_selector(store)
    for path in ("/selectors/spam", "/selectors/spam", "/selectors/stranger-1", "/selectors/stranger-2", "/stranger-3"):
        client.get(path)
    client.request("STRANGER", "/livez")
    client.head("/livez")
    counted = samples(client, "sieve_http_requests_total")
    assert counted["GET", "/selectors/{name}", "200"] == 2
    assert counted["GET", "/selectors/{name}", "404"] == 2
    assert counted["GET", "none", "404"] == 1
    assert counted["GET", "/livez", "200"] == 1
    assert [key[0] for key in counted if key[2] == "405"] == ["other"]
    assert "tranger" not in client.get("/metrics").text.lower()
    assert samples(client, "sieve_http_request_seconds_count")["GET", "/selectors/{name}"] == 4


def test_gauges_of_selectors_come_and_go(client: httpx.Client, store: MemoryStore) -> None:
    registered = add_selector(store)
    commit_first(store, claim_of(store, registered), Accounts(0, 9, applied=7, dead_lettered=2))
    applied = partial(samples, client, "sieve_selector_applied_records")
    assert eventually(applied, {("spam",): 7.0}) == {("spam",): 7}
    assert samples(client, "sieve_selector_dead_lettered_records") == {("spam",): 2}
    client.delete("/selectors/spam")
    assert applied() == {}


def test_two_apps_count_for_themselves(store: MemoryStore) -> None:
    with running(create_app(store, None, True)) as first, running(create_app(store, None, True)) as second:
        first.get("/livez")
        assert ("GET", "/livez", "200") not in samples(second, "sieve_http_requests_total")
