from collections.abc import Iterator

import httpx
import pytest

from broker.memory import MemoryBroker
from service.app import create_app
from store.memory import MemoryStore
from tests.service.running import running


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def broker() -> MemoryBroker:
    return MemoryBroker()


@pytest.fixture(scope="module")
def empty_client() -> Iterator[httpx.Client]:
    """Shared by tests that leave nothing behind."""
    with running(create_app(MemoryStore(), None, writes_allowed=True)) as client:
        yield client


@pytest.fixture
def client(store: MemoryStore, broker: MemoryBroker) -> Iterator[httpx.Client]:
    with running(create_app(store, broker, writes_allowed=True)) as client:
        yield client
