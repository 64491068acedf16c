"""The whole system on one machine: whatever is not given is started here, and ended here."""

import json
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from broker.kafka_broker import KafkaBroker
from store.redis_store import RedisStore
from streamsieve.errors import AlreadyExists, BadFile
from streamsieve.spec import Spec
from tools.settings import Settings
from tools.stack.apache_kafka import start_kafka
from tools.stack.child import Child
from tools.stack.embedded_kafka import start_embedded
from tools.stack.valkey import start_valkey

EMBEDDED, APACHE = "embedded", "apache"
QUICK_SESSION_MS = 3000  # of brokers that we start: a killed worker's partitions move on sooner


class Wanted(NamedTuple):
    """What to run, and what is there already."""

    kafka: str = EMBEDDED  # embedded, apache, or HOST:PORT,...
    redis: str = EMBEDDED  # embedded, or a URL
    workers: int = 1
    port: int = 0
    selectors: str | None = None


class Stack:
    """A running system. Made by `start`, ended by leaving the `with` block."""

    def __init__(self, wanted: Wanted, settings: Settings) -> None:
        self._wanted = wanted
        self._settings = settings
        self._stack = ExitStack()
        self.kafka = self.redis = self.http = ""
        self.children: list[Child] = []

    def __enter__(self) -> "Stack":
        try:
            self._start()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def _start(self) -> None:
        folder = Path(self._stack.enter_context(tempfile.TemporaryDirectory(prefix="sieve-")))
        self.redis = self._start_redis(folder)
        self.kafka = self._start_kafka(folder)
        self._create_selectors()
        serve = Child("serve", ["--allow-writes"], self._environment(SIEVE_HTTP_PORT=str(self._wanted.port)))
        workers = [Child("worker", [], self._environment()) for _ in range(self._wanted.workers)]
        self.children = [serve, *workers]
        self._stack.callback(self._stop_children)
        for child in self.children:
            child.start()
        self.http = serve.ready()["http"]
        serve.pin("SIEVE_HTTP_PORT", _port(self.http))
        for worker in workers:
            worker.pin("SIEVE_METRICS_PORT", _port(worker.ready()["metrics"]))

    def _start_redis(self, folder: Path) -> str:
        if self._wanted.redis != EMBEDDED:
            given = RedisStore.connect(self._wanted.redis, self._settings.prefix)
            given.ping()  # say now, not in a child's log, that it can't be reached
            given.close()
            return self._wanted.redis
        home = folder / "valkey"
        home.mkdir()
        return self._stack.enter_context(start_valkey(home)).url

    def _start_kafka(self, folder: Path) -> str:
        if self._wanted.kafka == EMBEDDED:
            return self._stack.enter_context(start_embedded()).bootstrap
        if self._wanted.kafka == APACHE:
            home = folder / "kafka"
            home.mkdir()
            return self._stack.enter_context(start_kafka(home)).bootstrap
        given = KafkaBroker(self._wanted.kafka, self._settings.kafka_config)
        given.ping()
        given.close()
        return self._wanted.kafka

    def _create_selectors(self) -> None:
        specs = read_selectors(Path(self._wanted.selectors)) if self._wanted.selectors else []
        if not specs:
            return
        store = RedisStore.connect(self.redis, self._settings.prefix)
        for spec in specs:
            try:
                store.create(spec)
            except AlreadyExists:
                continue  # a store that was given may know it from an earlier run
        store.close()

    def _environment(self, **more: str) -> dict[str, str]:
        started = self._wanted.kafka in (EMBEDDED, APACHE)
        session = QUICK_SESSION_MS if started else self._settings.session_timeout_ms
        return {
            "SIEVE_KAFKA_BOOTSTRAP": self.kafka,
            "SIEVE_REDIS_URL": self.redis,
            "SIEVE_SESSION_TIMEOUT_MS": str(session),
            "SIEVE_HTTP_HOST": "127.0.0.1",
            "SIEVE_METRICS_PORT": "0",
            "SIEVE_LOG_LEVEL": self._settings.log_level,
            **more,
        }

    def _stop_children(self) -> None:
        for child in self.children:
            child.ask_to_stop()
        for child in self.children:
            child.stop()

    def described(self) -> dict[str, Any]:
        """The line that tells others where everything is."""
        metrics = [f"{self.http}/metrics", *(child.said["metrics"] for child in self.children[1:])]
        return {"http": self.http, "kafka": self.kafka, "redis": self.redis, "metrics": metrics}


def _port(url: str) -> str:
    return str(urlsplit(url).port)


def read_selectors(path: Path) -> list[Spec]:
    """Selectors from a JSON file: one object or a list of them."""
    try:
        given = json.loads(path.read_text())
    except OSError as error:
        raise BadFile(f"{path}: {error.strerror}") from error
    except ValueError as error:
        raise BadFile(f"{path}: not JSON: {error}") from error
    return [Spec.parse(each) for each in (given if isinstance(given, list) else [given])]
