"""A whole system under test, from outside: `sieve dev` as a process, Kafka and HTTP as a user would speak to them."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from broker.kafka_broker import KafkaBroker
from broker.types import Outgoing
from store.redis_store import RedisStore
from store.types import ShardKey, Stored

WAIT_SECONDS = 90.0


def wait_until(true: Callable[[], bool], seconds: float = WAIT_SECONDS, pause: float = 0.1) -> float:
    """How long it took."""
    start = time.monotonic()
    while not true():
        assert time.monotonic() - start < seconds, f"not within {seconds} s"
        time.sleep(pause)
    return time.monotonic() - start


class System:
    def __init__(self, process: "subprocess.Popen[bytes]", ready: dict[str, Any]) -> None:
        self.process = process
        self.ready = ready
        self.http = httpx.Client(base_url=ready["http"], timeout=10.0)
        self.broker = KafkaBroker(ready["kafka"])
        self.producer = self.broker.producer()

    def create(self, **spec: Any) -> None:
        answer = self.http.post("/selectors", json=spec)
        assert answer.status_code == 201, answer.text

    def send(self, topic: str, values: Sequence[bytes | None], partition: int | None = None) -> None:
        for at in range(0, len(values), 5_000):
            self.producer.send_all([Outgoing(topic, None, value, [], partition) for value in values[at : at + 5_000]])

    def selector(self, name: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.http.get(f"/selectors/{name}").raise_for_status().json()
        return answer

    def top(self, name: str, k: int = 1_000) -> dict[str, Any]:
        asked = self.http.get("/features/top", params={"selector": name, "k": k})
        answer: dict[str, Any] = asked.raise_for_status().json()
        return answer

    def wait_handled(self, name: str, records: int, seconds: float = WAIT_SECONDS) -> float:
        """Until so many records are applied or refused, and served."""

        def handled() -> bool:
            books = self.selector(name)
            return (
                books["applied"] + books["dead_lettered"] >= records and self.top(name)["applied"] == books["applied"]
            )

        return wait_until(handled, seconds)

    def stored(self, name: str, partition: int) -> Stored:
        store = RedisStore.connect(self.ready["redis"])
        try:
            incarnation = store.registry().live[name].incarnation
            return store.load(ShardKey(name, incarnation, partition))
        finally:
            store.close()

    def worker_ids(self) -> list[int]:
        """Children of `sieve dev` with the argument `worker`, as the contract says how to find them."""
        children = Path(f"/proc/{self.process.pid}/task/{self.process.pid}/children").read_text().split()
        return [int(pid) for pid in children if b"\0worker\0" in _command_line(pid)]

    def kill_worker(self, which: int = 0) -> int:
        pid = self.worker_ids()[which]
        os.kill(pid, signal.SIGKILL)
        return pid

    def close(self) -> None:
        self.producer.close()
        self.broker.close()
        self.http.close()


def _command_line(pid: str) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except FileNotFoundError:
        return b""


@contextmanager
def running(*arguments: str, **environment: str) -> Iterator[System]:
    """`sieve dev` with these arguments; it must end with code 0 and leave nothing behind."""
    command = [sys.executable, "-m", "tools", "dev", *arguments]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, **environment})
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert line, f"sieve dev ended with {process.wait()} before it was ready"
        system = System(process, json.loads(line))
        yield system
        system.close()
        process.send_signal(signal.SIGTERM)
        assert process.wait(30) == 0
    finally:
        if process.poll() is None:
            process.terminate()
            process.wait(30)
        if process.stdout:
            process.stdout.close()
