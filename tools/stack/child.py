"""A child process of `sieve dev`: a sieve command that says in one JSON line when it is ready, kept alive."""

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

from streamsieve.errors import SieveError

log = logging.getLogger(__name__)

STOP_SECONDS = 10.0
PATIENT_DEATHS = 20  # restarts without a pause; after that something is wrong for good
PAUSE_SECONDS = 5.0


class NotReady(SieveError):  # noqa: N818
    """A child ended before it was ready; its own words are on stderr."""


class Child:
    """One command. Its standard input is a pipe from us, so that it ends even if we are killed."""

    def __init__(self, command: str, arguments: list[str], environment: Mapping[str, str]) -> None:
        self.command = command
        self.said: dict[str, Any] = {}
        self.deaths = 0
        self._arguments = [sys.executable, "-m", "tools", command, "--with-parent", *arguments]
        self._environment = {**os.environ, **environment}
        self._process: subprocess.Popen[bytes] | None = None
        self._died_at = 0.0

    def start(self) -> None:
        """Begin; `ready` waits for its line."""
        self._process = subprocess.Popen(
            self._arguments, env=self._environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
        )

    @property
    def pid(self) -> int:
        """Of the running process."""
        return self._running().pid

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise NotReady(f"sieve {self.command} was not started")
        return self._process

    def ready(self) -> dict[str, Any]:
        """Wait for its JSON line."""
        process = self._running()
        line = process.stdout.readline() if process.stdout else b""
        if not line:
            raise NotReady(f"sieve {self.command} ended with code {process.wait()} before it was ready")
        self.said = json.loads(line)
        return self.said

    def pin(self, variable: str, value: str) -> None:
        """From the next start on: whoever found us at a port finds us there again."""
        self._environment[variable] = value

    def revive(self, now: float) -> bool:
        """Start it again if it died; was it dead?"""
        process = self._running()
        if process.poll() is None:
            return False
        if not self._died_at:
            self._died_at = now
            self.deaths += 1
            log.warning("sieve %s (pid %d) died with code %s", self.command, process.pid, process.returncode)
        if self.deaths > PATIENT_DEATHS and now - self._died_at < PAUSE_SECONDS:
            return False
        self._died_at = 0.0
        self._close_pipes(process)
        self.start()
        return True

    def ask_to_stop(self) -> None:
        """SIGTERM, if it still runs."""
        process = self._running()
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)

    def stop(self) -> None:
        """Wait for its end; after some seconds, by force."""
        process = self._running()
        self.ask_to_stop()
        try:
            process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            log.warning("sieve %s (pid %d) did not stop in time and is killed", self.command, process.pid)
            process.kill()
            process.wait()
        self._close_pipes(process)

    @staticmethod
    def _close_pipes(process: subprocess.Popen[bytes]) -> None:
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
