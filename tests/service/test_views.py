import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from service.conditional import none_match
from service.fresh import Fresh
from service.rendering import Format, Rendered, entity_tag
from service.views import Views, nothing_served
from store.memory import MemoryStore
from store.types import TopSet
from streamsieve.errors import StoreDown, UnknownSelector
from tests.service.running import add_selector, claim_of, publish


class Time:
    """A clock that stands still until it is moved."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class CountingStore(MemoryStore):
    """Counts how often it is asked."""

    asked_versions = 0
    asked_tops = 0

    def top_version(self, name: str, incarnation: str) -> str:
        self.asked_versions += 1
        return super().top_version(name, incarnation)

    def top(self, name: str, incarnation: str) -> TopSet | None:
        self.asked_tops += 1
        return super().top(name, incarnation)


def test_the_version_is_asked_ten_times_a_second_and_the_set_once_a_version() -> None:
    store, clock = CountingStore(), Time()
    registered = add_selector(store)
    publish(store, registered, claim_of(store, registered), ["a"])
    views = Views(store, clock)
    store.asked_tops = 0
    for step in range(1_000):
        clock.now = step / 1_000
        views.top(registered)
    assert 9 <= store.asked_versions <= 11
    assert store.asked_tops <= 12  # MemoryStore reads the set to tell its version
    assert len({id(views.top(registered)) for _ in range(3)}) == 1


def test_a_deleted_selector_is_unknown_at_once_when_told() -> None:
    store, clock = MemoryStore(), Time()
    registered = add_selector(store)
    views = Views(store, clock)
    assert views.find("spam").incarnation == registered.incarnation
    store.delete("spam")
    assert views.find("spam") is not None
    views.changed()
    with pytest.raises(UnknownSelector):
        views.find("spam")


def test_those_who_queue_behind_a_reading_share_its_outcome() -> None:
    """A store that hangs for 2 s must not be asked by 40 threads one after the other."""
    clock, begun, go_on, readings = Time(), threading.Event(), threading.Event(), []

    def read() -> str:
        readings.append(clock.now)
        begun.set()
        go_on.wait(5)
        raise StoreDown("timed out")

    fresh = Fresh(read, 0.1, clock)

    def ask(_: int) -> str:
        with pytest.raises(StoreDown):
            fresh.get()
        return "refused"

    with ThreadPoolExecutor(8) as pool:
        answers = pool.map(ask, range(8))
        begun.wait(5)
        clock.now = 0.05
        go_on.set()
        assert list(answers) == ["refused"] * 8
    assert len(readings) == 1


def test_rendered_answers_are_shared_and_bounded() -> None:
    store = MemoryStore()
    registered = add_selector(store)
    top = publish(store, registered, claim_of(store, registered), ["a", "b"])
    rendered = Rendered(most_bytes=500)
    first = rendered.of(top, 2, Format.JSON)
    assert rendered.of(top, 2, Format.JSON) is first
    for k in range(3, 20):
        rendered.of(top, k, Format.JSON)
    again = rendered.of(top, 2, Format.JSON)
    assert (again is first, again) == (False, first)


def test_tags_hold_only_what_a_header_may() -> None:
    store = MemoryStore()
    registered = add_selector(store)
    for top in (nothing_served(registered), publish(store, registered, claim_of(store, registered), ["a"])):
        assert not none_match([entity_tag(top, 1, Format.VW_MASK)], entity_tag(top, 1, Format.VW_MASK))


def test_a_long_header_of_commas_is_read_quickly() -> None:
    assert none_match(['"a"' + ", \t" * 20_000 + "x"], '"a"')
