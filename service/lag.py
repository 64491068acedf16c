"""How far the workers are behind the log: a thread asks Kafka every second, so that no request waits for it."""

import time
from math import inf
from threading import Event, Thread
from typing import NamedTuple

from broker.protocol import Broker
from broker.types import Watermarks
from service.fresh import Clock
from service.views import Views
from store.types import Accounts
from streamsieve.errors import BrokerDown, SieveError
from streamsieve.spec import Spec

EVERY_SECONDS = 1.0
STALE_SECONDS = 15.0
STOP_SECONDS = 5.0


class Reading(NamedTuple):
    """What Kafka said, and when."""

    at: float
    kafka: str  # up, or down: why
    watermarks: dict[str, dict[int, Watermarks]]  # topic -> partition -> watermarks


class LagWatch:
    """Knows the watermarks of all live selectors' topics as of the last round."""

    def __init__(self, views: Views, broker: Broker | None, clock: Clock = time.monotonic) -> None:
        self._views = views
        self._broker = broker
        self._clock = clock
        self._topics: frozenset[str] = frozenset()
        self._reading = Reading(-inf, "", {})
        self._stopping = Event()
        self._thread = Thread(target=self._run, name="lag", daemon=True)

    def start(self) -> None:
        """Ask from now on."""
        if self._broker is not None:
            self._thread.start()

    def stop(self) -> None:
        """Ask no more; a question under way is waited for, but not for ever."""
        self._stopping.set()
        if self._thread.is_alive():
            self._thread.join(STOP_SECONDS)

    def refresh(self) -> None:
        """One round."""
        if self._broker is not None:
            self._reading = self._read(self._broker)

    def kafka(self) -> str:
        """up, down: why, or unknown: why."""
        if self._broker is None:
            return "unknown: no broker is configured"
        reading = self._reading
        return reading.kafka if self._is_recent(reading) else "unknown: no recent answer"

    def of(self, spec: Spec, partition: int, accounts: Accounts | None) -> int | None:
        """Records that wait in one partition; None where that is not known."""
        reading = self._reading
        marks = reading.watermarks.get(spec.topic, {}).get(partition)
        if marks is None or not self._is_recent(reading):
            return None
        if accounts is not None:
            return max(0, marks.high - accounts.next_offset)
        if spec.start == "earliest" or marks.low == marks.high:
            return marks.high - marks.low  # nothing is read yet: all that the log holds is waiting
        return None

    def _is_recent(self, reading: Reading) -> bool:
        return self._clock() - reading.at <= STALE_SECONDS

    def _run(self) -> None:
        self.refresh()
        while not self._stopping.wait(EVERY_SECONDS):
            self.refresh()

    def _read(self, broker: Broker) -> Reading:
        self._look_for_topics()
        at = self._clock()
        try:
            broker.ping()
            watermarks = {topic: broker.watermarks(topic) for topic in self._topics}
        except BrokerDown as error:
            return Reading(at, f"down: {error}", {})
        return Reading(at, "up", watermarks)

    def _look_for_topics(self) -> None:
        try:
            live = self._views.registry().live.values()
        except SieveError:
            return  # Kafka is asked for the topics known before; Redis is /readyz's business
        self._topics = frozenset(registered.spec.topic for registered in live)
