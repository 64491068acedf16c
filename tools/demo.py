"""`sieve demo`: the whole system on this machine, a generated spam stream, and a table that follows the served set."""

import argparse
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import httpx
from rich.live import Live
from rich.text import Text

from broker.kafka_broker import KafkaBroker
from broker.types import Outgoing
from streamsieve.errors import SieveError
from tools.demo_stream import TELLING, SpamStream
from tools.dev import WATCH_SECONDS, port_number, watch
from tools.logs import configure_logs
from tools.output import feature_table, note, say
from tools.pacing import Pace
from tools.settings import Settings
from tools.stack.stack import Stack, Wanted
from tools.stopping import stop_event

TOPIC, SELECTOR, BUDGET = "mail", "spam", 100
RATE = 3_000.0  # samples a second
MOST_AHEAD = 15_000  # records sent but not applied: the embedded cluster forgets all but 5 MiB a partition
SETTLE_SECONDS = 3.0
START_SECONDS = 60.0
SHOWN = 20


class NotStarted(SieveError):  # noqa: N818
    """The worker did not take the demo's partitions in time."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """As in the contract."""
    parser.add_argument("--seconds", type=duration, default=90.0, metavar="N", help="how long the stream lasts")
    parser.add_argument("--seed", type=int, default=1, help="of the generated stream")
    parser.add_argument("--port", type=port_number, default=0, help="of the HTTP service; 0 takes any free one")


def duration(text: str) -> float:
    """Seconds from 5 to a day."""
    if not text.replace(".", "", 1).isdecimal() or not 5 <= float(text) <= 86_400:
        raise argparse.ArgumentTypeError(f"must be a number of seconds from 5 to 86400, not {text!r}")
    return float(text)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Until the stream ends or somebody stops it."""
    stopping = stop_event()
    settings = replace(settings, log_level="warning")  # the table is what people came for
    configure_logs(settings.log_level, settings.log_format)
    note("sieve demo: starting Valkey, Kafka, a worker and the service; a first start compiles kernels: a minute or so")
    with Stack(Wanted(port=args.port), settings) as stack:
        note(f"sieve demo: {stack.http}/docs tells the HTTP calls, {stack.http}/features/top the served features")
        watcher = threading.Thread(target=watch, args=(stack, stopping), daemon=True)
        watcher.start()
        with Demo(stack, args.seed) as demo, screen() as show:
            demo.create_selector()
            demo.wait_for_worker(stopping)
            demo.play(args.seconds, stopping, show)
        stopping.set()
        watcher.join(10 * WATCH_SECONDS)
    say(demo.verdict())
    return 0


class Demo:
    """Sends the stream and follows what is served."""

    def __init__(self, stack: Stack, seed: int) -> None:
        self._stream = SpamStream(seed)
        self._http = httpx.Client(base_url=stack.http, timeout=5.0)
        self._broker = KafkaBroker(stack.kafka)
        self._producer = self._broker.producer()
        self._sent = 0
        self._applied = 0
        self._before: int | None = None
        self._found = 0

    def __enter__(self) -> "Demo":
        return self

    def __exit__(self, *_: object) -> None:
        self._producer.close()
        self._broker.close()
        self._http.close()

    def create_selector(self) -> None:
        """The topic first, then the selector."""
        self._broker.ensure_topic(TOPIC)
        spec = {"name": SELECTOR, "algorithm": "b-arda", "budget": BUDGET, "topic": TOPIC}
        self._http.post("/selectors", json=spec).raise_for_status()

    def wait_for_worker(self, stopping: threading.Event) -> None:
        """Send nothing before every partition is read: the embedded cluster does not keep a log for long."""
        deadline = time.monotonic() + START_SECONDS
        while not stopping.wait(WATCH_SECONDS):
            partitions = self._selector()["partitions"]
            if partitions and all(each["next_offset"] is not None for each in partitions):
                return
            if time.monotonic() > deadline:
                raise NotStarted(f"no worker took the partitions of {TOPIC} in {START_SECONDS:g} s; see stderr")

    def _selector(self) -> dict[str, Any]:
        answer: dict[str, Any] = self._http.get(f"/selectors/{SELECTOR}").raise_for_status().json()
        return answer

    def play(self, seconds: float, stopping: threading.Event, show: "Show") -> None:
        """The first half, the change, the second half; each ends when what was sent is served."""
        half = max(1.0, seconds / 2 - SETTLE_SECONDS)
        self._send_for(half, stopping, show, "before the change")
        self._before = self._found
        self._stream.change()
        self._send_for(half, stopping, show, "after the change: 20 of the 60 telling words are new")

    def _send_for(self, seconds: float, stopping: threading.Event, show: "Show", title: str) -> None:
        start = looked = time.monotonic()
        pace, first = Pace(RATE, start), self._sent
        while (now := time.monotonic()) < start + seconds and not stopping.is_set():
            if self._sent - self._applied < MOST_AHEAD:
                self._send(pace.batch(1_000))
            stopping.wait(pace.wait(self._sent - first, now))
            if now - looked >= 0.5:
                looked = now
                self._look(show, title)
        self._settle(stopping, show, title)

    def _send(self, count: int) -> None:
        self._producer.send_all([Outgoing(TOPIC, None, value, []) for value in self._stream.samples(count)])
        self._sent += count

    def _settle(self, stopping: threading.Event, show: "Show", title: str) -> None:
        deadline = time.monotonic() + SETTLE_SECONDS
        while time.monotonic() < deadline and not stopping.is_set():
            self._look(show, title)
            if self._applied >= self._sent:
                return
            stopping.wait(WATCH_SECONDS)

    def _look(self, show: "Show", title: str) -> None:
        top = self._http.get("/features/top", params={"selector": SELECTOR, "k": BUDGET}).raise_for_status().json()
        accuracy = self._selector()["progressive"]["accuracy"] or 0.0
        self._applied = top["applied"]
        self._found = len(self._stream.telling & {each["feature"] for each in top["features"]})
        facts = (
            f"{title}\n{self._applied:,} of {self._sent:,} records applied, progressive accuracy {accuracy:.3f}, "
            f"{self._found} of {TELLING} telling words served"
        )
        show.update(facts, top["features"][:SHOWN])

    def verdict(self) -> str:
        """How many of the true words are in the served set."""
        before = "never reached" if self._before is None else f"{self._before} of {TELLING} telling words served"
        return (
            f"{self._applied:,} of {self._sent:,} records applied.\n"
            f"Before the change: {before}.\n"
            f"At the end: {self._found} of the current {TELLING} telling words served."
        )


class Show:
    """On a terminal a live table; elsewhere a line every five seconds."""

    def __init__(self, live: Live | None) -> None:
        self._live = live
        self._said_at = float("-inf")

    def update(self, facts: str, features: list[dict[str, Any]]) -> None:
        """The newest."""
        if self._live is not None:
            self._live.update(Text(f"{facts}\n\n{feature_table(features)}"))
        elif time.monotonic() - self._said_at >= 5.0:
            self._said_at = time.monotonic()
            note(facts.replace("\n", ": "))


@contextmanager
def screen() -> Iterator[Show]:
    """Where the demo shows itself."""
    if not sys.stdout.isatty():
        yield Show(None)
        return
    with Live(refresh_per_second=4) as live:
        yield Show(live)
