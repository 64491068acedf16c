"""What the service reads of the store, each kept for a moment so that many callers cost one reading."""

import time
from threading import Lock

from service.fresh import Clock, Fresh
from service.problems import BadQuery
from store.protocol import Store
from store.types import Registered, Registry, ShardStatus, TopSet
from streamsieve.errors import UnknownSelector

TOP_SECONDS = 0.1
REGISTRY_SECONDS = 0.2
MISS_SECONDS = 0.02  # what is not there may have just been created by another service: look again
BOOKS_SECONDS = 0.5

Books = list[tuple[Registered, list[ShardStatus]]]


class _RegistryReader:
    """Reads the registry only when its version moved."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._version: str | None = None
        self._registry = Registry({}, frozenset())

    def read(self) -> Registry:
        version = self._store.registry_version()  # before the registry: if it moves in between, we read again
        if version != self._version:
            self._registry = self._store.registry()
            self._version = version
        return self._registry


class _TopReader:
    """Reads one selector's served set only when its version moved."""

    def __init__(self, store: Store, registered: Registered) -> None:
        self._store = store
        self._registered = registered
        self._tag: str | None = None
        self._top = nothing_served(registered)

    def read(self) -> TopSet:
        name, incarnation = self._registered.spec.name, self._registered.incarnation
        tag = self._store.top_version(name, incarnation)
        if tag != self._tag:
            self._top = self._store.top(name, incarnation) or nothing_served(self._registered)
            self._tag = tag
        return self._top


class Views:
    """The store as the routes see it. Any call may raise StoreDown."""

    def __init__(self, store: Store, clock: Clock = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._registry = Fresh(_RegistryReader(store).read, REGISTRY_SECONDS, clock)
        self._books = Fresh(self._read_books, BOOKS_SECONDS, clock)
        self._tops: dict[tuple[str, str], Fresh[TopSet]] = {}
        self._tops_lock = Lock()

    def registry(self) -> Registry:
        """All selectors."""
        return self._registry.get()

    def changed(self) -> None:
        """A selector was created or deleted through this service: show it at once."""
        self._registry.forget()
        self._books.forget()

    def find(self, name: str) -> Registered:
        """One selector; raises UnknownSelector."""
        live = self.registry().live
        found = live.get(name) or self._registry.get(MISS_SECONDS).live.get(name)
        if found is None:
            raise UnknownSelector(f"no selector named {name!r}")
        return found

    def only(self) -> Registered:
        """The selector, where there is one alone; raises UnknownSelector, BadQuery."""
        live = self.registry().live or self._registry.get(MISS_SECONDS).live
        if not live:
            raise UnknownSelector("there is no selector yet")
        if len(live) > 1:
            raise BadQuery("selector", f"must be given, as there are {len(live)} selectors")
        return next(iter(live.values()))

    def top(self, registered: Registered) -> TopSet:
        """Its served set; version 0 and no features before the first."""
        key = (registered.spec.name, registered.incarnation)
        with self._tops_lock:
            fresh = self._tops.get(key) or self._watch(key, registered)
        return fresh.get()

    def statuses(self, registered: Registered) -> list[ShardStatus]:
        """Every partition's books as they stand; none before a worker has seen the topic."""
        return self._store.statuses(registered.spec.name, registered.incarnation, registered.partitions or 0)

    def books(self) -> Books:
        """The books of all selectors, for probes and metrics."""
        return self._books.get()

    def _watch(self, key: tuple[str, str], registered: Registered) -> Fresh[TopSet]:
        live = {(name, entry.incarnation) for name, entry in self.registry().live.items()}
        self._tops = {known: fresh for known, fresh in self._tops.items() if known in live}
        fresh = Fresh(_TopReader(self._store, registered).read, TOP_SECONDS, self._clock)
        self._tops[key] = fresh
        return fresh

    def _read_books(self) -> Books:
        return [(registered, self.statuses(registered)) for registered in self.registry().live.values()]


def nothing_served(registered: Registered) -> TopSet:
    """What is served before a worker has published."""
    return TopSet(
        selector=registered.spec.name,
        incarnation=registered.incarnation,
        algorithm=registered.spec.algorithm,
        version=0,
        nonce=registered.incarnation,
        applied=0,
        samples=0,
        updated_at=0.0,
        budget=registered.spec.budget,
        features=(),
    )
