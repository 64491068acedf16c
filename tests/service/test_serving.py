import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

import httpx
import pytest

from service.serving import bind
from streamsieve.errors import CannotListen

PROGRAM = """
from service.app import create_app
from service.serving import serve
from store.memory import MemoryStore
serve(create_app(MemoryStore(), None, writes_allowed=True), "127.0.0.1", 0, lambda port: print(port, flush=True))
print("stopped", flush=True)
"""


@contextmanager
def started() -> Iterator[subprocess.Popen[str]]:
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", PROGRAM], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_stops_it_cleanly(number: signal.Signals) -> None:
    with started() as process:
        assert process.stdout is not None
        port = int(process.stdout.readline())
        with httpx.Client(base_url=f"http://127.0.0.1:{port}") as client:
            assert client.get("/livez").status_code == 200
            os.kill(process.pid, number)
            output, errors = process.communicate(timeout=15)
    assert (process.returncode, output, errors) == (0, "stopped\n", "")


def test_answers_on_a_kept_connection_are_not_held_back(empty_client: httpx.Client) -> None:
    """Nagle's algorithm against delayed acknowledgements would cost 40 ms a request."""
    assert median(empty_client.get("/livez").elapsed.total_seconds() for _ in range(21)) < 0.03


def test_a_port_that_is_taken_is_an_error() -> None:
    with bind("127.0.0.1", 0) as first, pytest.raises(CannotListen, match="in use"):
        bind("127.0.0.1", first.getsockname()[1])
