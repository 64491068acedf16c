"""Runs an app under uvicorn until somebody says stop. Logging is the caller's to set up."""

import signal
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

import uvicorn
from fastapi import FastAPI

from streamsieve.errors import CannotListen

GRACE_SECONDS = 5
BACKLOG = 1024

OnReady = Callable[[int], None]


class Server(uvicorn.Server):
    """Tells the bound port when it takes requests."""

    def __init__(self, config: uvicorn.Config, on_ready: OnReady) -> None:
        super().__init__(config)
        self._on_ready = on_ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, then tell."""
        await super().startup(sockets)
        if self.started and sockets:
            self._on_ready(sockets[0].getsockname()[1])


def make_server(app: FastAPI, on_ready: OnReady) -> Server:
    """The server, not started; `should_exit` stops it from another thread."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,  # paths come from strangers; /metrics counts requests
        server_header=False,
        lifespan="on",
        ws="none",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    return Server(config, on_ready)


def bind(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes a free one. Raises CannotListen."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is spelled out because asyncio sets TCP_NODELAY only then; without it each answer took 40 ms.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise CannotListen(f"{host}:{port}: {error.strerror or error}") from error
    return listening


def serve(app: FastAPI, host: str, port: int, on_ready: OnReady) -> None:
    """Serve until SIGTERM or SIGINT, finish what was begun, return."""
    with bind(host, port) as listening, _quiet_signals():
        make_server(app, on_ready).run(sockets=[listening])


def _ignore(_: int, __: FrameType | None) -> None:
    """The stop is done when uvicorn raises the signal again."""


@contextmanager
def _quiet_signals() -> Iterator[None]:
    """uvicorn raises the signal that stopped it once more, which would kill the process after a clean stop."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = {number: signal.signal(number, _ignore) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
