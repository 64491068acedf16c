import os
import signal
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager

import httpx
import pytest

from service.app import create_app
from store.redis_store import RedisStore
from store.types import Accounts
from tests.service.running import add_selector, claim_of, commit_first, eventually, publish, running, spec_json
from tests.service.test_problems import assert_problem
from tools.stack.valkey import RunningValkey, start_valkey

NAMES = ["=1+1", "<b>", "naïve 💥", "new\nline", "\x00"]


@pytest.fixture
def redis_store(redis_url: str, redis_prefix: str) -> Iterator[RedisStore]:
    store = RedisStore.connect(redis_url, redis_prefix)
    yield store
    store.close()


@contextmanager
def served(store: RedisStore) -> Iterator[httpx.Client]:
    with running(create_app(store, None, writes_allowed=True)) as client:
        yield client


def test_the_walk_over_a_real_store(redis_store: RedisStore) -> None:
    registered = add_selector(redis_store)
    claim = claim_of(redis_store, registered)
    commit_first(redis_store, claim, Accounts(0, 9, applied=7, dead_lettered=2, samples=7), (7, 6, 1.75, float("nan")))
    top = publish(redis_store, registered, claim, NAMES)
    with served(redis_store) as client:
        answer = client.get("/features/top")
        assert [feature["feature"] for feature in answer.json()["features"]] == NAMES
        assert answer.json()["version"] == top.version
        assert client.get("/features/top", headers={"If-None-Match": answer.headers["etag"]}).status_code == 304
        body = client.get("/selectors/spam").json()
        assert (body["applied"], body["dead_lettered"], body["version"]) == (7, 2, top.version)
        assert body["progressive"] == {"accuracy": 6 / 7, "loss": 0.25, "auc": None}
        assert client.delete("/selectors/spam").status_code == 204
        assert_problem(client.get("/features/top", params={"selector": "spam"}), 404)


def test_two_services_see_each_others_selectors(redis_url: str, redis_prefix: str) -> None:
    stores = [RedisStore.connect(redis_url, redis_prefix) for _ in range(2)]
    with ExitStack() as stack:
        for store in stores:
            stack.callback(store.close)
        first, second = (stack.enter_context(served(store)) for store in stores)
        assert second.get("/selectors/spam").status_code == 404
        assert first.post("/selectors", json=spec_json()).status_code == 201
        assert eventually(lambda: second.get("/selectors/spam").status_code, 200, seconds=0.5) == 200
        assert second.post("/selectors", json=spec_json()).status_code == 409
        assert second.delete("/selectors/spam").status_code == 204
        assert eventually(lambda: first.get("/selectors/spam").status_code, 404, seconds=0.5) == 404


def test_redis_killed_is_503_and_back_without_a_restart(fresh_valkey: RunningValkey) -> None:
    store = RedisStore.connect(fresh_valkey.url)
    registered = add_selector(store)
    publish(store, registered, claim_of(store, registered), ["a"])
    with served(store) as client:
        tag = client.get("/features/top").headers["etag"]
        fresh_valkey.kill()
        assert eventually(lambda: client.get("/selectors").status_code, 503, seconds=0.5) == 503
        for path in ("/features/top", "/selectors", "/selectors/spam", "/readyz"):
            answer = client.get(path, headers={"If-None-Match": tag})
            assert assert_problem(answer, 503)["down"] == "redis"
            assert "retry-after" in answer.headers
        assert_problem(client.post("/selectors", json=spec_json("two")), 503)
        assert client.get("/livez").status_code == 200
        assert "sieve_redis_up 0.0" in client.get("/metrics").text
        with start_valkey(fresh_valkey.folder, fresh_valkey.port):
            assert client.get("/readyz").status_code == 200
            assert client.get("/features/top").headers["etag"] == tag
    store.close()


def test_a_redis_that_hangs_holds_up_nobody_for_long(fresh_valkey: RunningValkey) -> None:
    """Sixty callers wait for one time-out or two, not each for those before it; liveness waits for nobody."""
    store = RedisStore.connect(fresh_valkey.url, timeout=0.3)
    add_selector(store)
    with served(store) as client, ThreadPoolExecutor(60) as pool:
        assert client.get("/features/top").status_code == 200
        os.kill(fresh_valkey.pid, signal.SIGSTOP)
        try:
            time.sleep(0.3)
            began = time.monotonic()
            waiting = [pool.submit(client.get, "/features/top") for _ in range(60)]
            assert client.get("/livez").elapsed.total_seconds() < 0.5
            assert {future.result().status_code for future in waiting} == {503}
            assert time.monotonic() - began < 6
        finally:
            os.kill(fresh_valkey.pid, signal.SIGCONT)
        assert eventually(lambda: client.get("/features/top").status_code, 200) == 200
    store.close()
