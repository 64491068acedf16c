"""Starts and stops lanes as selectors are created and deleted; one thread a selector."""

import logging
import threading
import time
from collections.abc import Callable

from store.types import Registered, Registry
from streamsieve.errors import BrokerDown, StoreDown
from workers.lane import Deployment, Known, Lane
from workers.served_set import features_topic

log = logging.getLogger(__name__)

REGISTRY_SECONDS = 0.3
PAUSE_SECONDS = 1.0


class LaneThread:
    """Runs a selector's lane over and over, until stopped: joining anew, waiting for the topic, outliving crashes."""

    def __init__(self, registered: Registered, deployment: Deployment) -> None:
        self.registered = registered
        self._deployment = deployment
        self._known: Known = {}
        self._latest: dict[int, int] | None = None
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, name=f"lane-{registered.spec.name}", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """Ask it to commit and leave."""
        self._stop.set()

    def join(self, seconds: float) -> None:
        """Wait for it."""
        self._thread.join(seconds)

    @property
    def alive(self) -> bool:
        """False after an unexpected exception, which threading's hook has logged."""
        return self._thread.is_alive()

    def _run(self) -> None:
        while not self._stop.is_set():
            try:
                self._lane().run()
            except (BrokerDown, StoreDown) as error:
                log.warning("%s: begins again: %s", self.registered.spec.name, error)
                self._stop.wait(PAUSE_SECONDS)
            except _Stopped:
                return

    def _lane(self) -> Lane:
        spec, (store, broker) = self.registered.spec, self._deployment[:2]
        partitions = self._partitions()
        if self._latest is None:
            self._latest = {partition: marks.high for partition, marks in broker.watermarks(spec.topic).items()}
        store.set_partitions(spec.name, self.registered.incarnation, partitions)
        broker.ensure_topic(features_topic(spec.name), compacted=True)
        return Lane(self.registered, self._deployment, partitions, self._known, self._latest, self._stop.is_set)

    def _partitions(self) -> int:
        """Wait until the topic is there: it belongs to its producers, who know how many partitions it needs."""
        topic, said = self.registered.spec.topic, False
        while not self._stop.is_set():
            partitions = self._deployment.broker.partition_count(topic)
            if partitions:
                return partitions
            if not said:
                log.warning("%s: waits for topic %s to be made", self.registered.spec.name, topic)
                said = True
            self._stop.wait(REGISTRY_SECONDS)
        raise _Stopped


class _Stopped(Exception):  # noqa: N818
    """Told to stop while waiting."""


class Supervisor:
    """Keeps one lane for each selector of the registry."""

    def __init__(self, deployment: Deployment, warm: Callable[[Registered], None]) -> None:
        self._deployment = deployment
        self._warm = warm
        self._lanes: dict[str, LaneThread] = {}
        self._version: str | None = None

    def run(self, stopping: threading.Event) -> None:
        """Until told to stop; then every lane commits and leaves its group."""
        while not stopping.wait(REGISTRY_SECONDS):
            self.turn()
        self.stop()

    def turn(self) -> None:
        """Follow the registry; with the store down, leave everything as it is."""
        try:
            self._follow_registry()
        except StoreDown as error:
            log.warning("the registry can't be read: %s", error)
        self._restart_dead()

    def _follow_registry(self) -> None:
        store = self._deployment.store
        version = store.registry_version()
        if version == self._version:
            return
        registry = store.registry()
        if self._restore_lost(registry):
            return  # the version has changed again
        for name, lane in list(self._lanes.items()):
            if name not in registry.live or registry.live[name].incarnation != lane.registered.incarnation:
                self._stop_lane(name)
        for name, registered in registry.live.items():
            if name not in self._lanes:
                self._start_lane(registered)
        self._version = version

    def _restore_lost(self, registry: Registry) -> bool:
        """A selector that vanished without a tombstone was not deleted: the store lost it. Loud, and put back."""
        lost = [name for name in self._lanes if name not in registry.live and name not in registry.deleted]
        for name in lost:
            log.critical("%s: the store lost this selector; putting it back and rebuilding from the log", name)
            self._deployment.metrics.store_emptied.labels(name).inc()
            self._deployment.store.recreate(self._lanes[name].registered)
        return bool(lost)

    def _start_lane(self, registered: Registered) -> None:
        self._warm(registered)  # kernels compile for seconds: before subscribing, or the group would wait
        lane = LaneThread(registered, self._deployment)
        self._lanes[registered.spec.name] = lane
        lane.start()
        log.info("%s: lane started", registered.spec.name)

    def _stop_lane(self, name: str) -> None:
        lane = self._lanes.pop(name)
        lane.stop()
        lane.join(5.0)
        log.info("%s: lane stopped", name)

    def _restart_dead(self) -> None:
        for name, lane in self._lanes.items():
            if not lane.alive:
                log.error("%s: its thread crashed; starting it again", name)
                self._deployment.metrics.lane_failures.labels(name).inc()
                time.sleep(PAUSE_SECONDS)
                self._lanes[name] = LaneThread(lane.registered, self._deployment)
                self._lanes[name].start()

    def stop(self) -> None:
        """All lanes at once, so that the stop takes as long as the slowest."""
        for lane in self._lanes.values():
            lane.stop()
        for lane in self._lanes.values():
            lane.join(5.0)
