"""The app under a real uvicorn on a free port, and a store with something in it."""

import secrets
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from fastapi import FastAPI

from service.serving import bind, make_server
from store.protocol import Store
from store.types import Accounts, Claim, Commit, Feature, Registered, ShardKey, TopSet
from streamsieve.spec import Spec


@contextmanager
def running(app: FastAPI) -> Iterator[httpx.Client]:
    ready = threading.Event()
    ports: list[int] = []

    def on_ready(port: int) -> None:
        ports.append(port)
        ready.set()

    server = make_server(app, on_ready)
    with bind("127.0.0.1", 0) as listening:
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        try:
            assert ready.wait(10), "the server did not start"
            with httpx.Client(base_url=f"http://127.0.0.1:{ports[0]}", timeout=20) as client:
                yield client
        finally:
            server.should_exit = True
            thread.join(15)
            assert not thread.is_alive()


def eventually(read: Callable[[], object], expected: object, seconds: float = 5.0) -> object:
    """What was read last: as expected, or whatever it was when time ran out."""
    deadline = time.monotonic() + seconds
    while (seen := read()) != expected and time.monotonic() < deadline:
        time.sleep(0.02)
    return seen


def spec_json(name: str = "spam", **more: Any) -> dict[str, Any]:
    return {"name": name, "algorithm": "b-arda", "budget": 5, "topic": f"{name}-samples", **more}


def add_selector(store: Store, name: str = "spam", partitions: int = 2, **more: Any) -> Registered:
    """In one step, so that no reader sees it without its partitions."""
    registered = Registered(Spec.parse(spec_json(name, **more)), secrets.token_hex(8), partitions)
    store.recreate(registered)
    return registered


def claim_of(store: Store, registered: Registered, partition: int = 0) -> Claim:
    return store.claim(ShardKey(registered.spec.name, registered.incarnation, partition))


def commit_first(
    store: Store, claim: Claim, accounts: Accounts, progress: tuple[float, float, float, float] = (0, 0, 0, 0)
) -> None:
    store.commit(claim, Commit("", None, f"v{claim.owner}", accounts, {}, progress))


def publish(store: Store, registered: Registered, claim: Claim, names: list[str], applied: int = 7) -> TopSet:
    features = tuple(Feature(rank, name, 1.5 / rank, 0.1 + 1 / rank) for rank, name in enumerate(names, 1))
    top = TopSet(
        selector=registered.spec.name,
        incarnation=registered.incarnation,
        algorithm=registered.spec.algorithm,
        version=0,
        nonce="",
        applied=applied,
        samples=applied,
        updated_at=1_700_000_000.25,
        budget=registered.spec.budget,
        features=features,
    )
    return store.publish(claim, top)
