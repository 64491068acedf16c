"""How a long-running command is told to stop: SIGINT, SIGTERM, or the end of the one who started it."""

import os
import signal
import sys
import threading
from types import FrameType


def stop_event() -> threading.Event:
    """An event that SIGINT and SIGTERM set."""
    stopping = threading.Event()

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopping.set()

    signal.signal(signal.SIGINT, stop)
    signal.signal(signal.SIGTERM, stop)
    return stopping


def end_with_parent() -> None:
    """SIGTERM to ourselves when standard input ends, as it does even if the starter was killed."""
    threading.Thread(target=_end_with_stdin, name="parent-watch", daemon=True).start()


def _end_with_stdin() -> None:
    while os.read(sys.stdin.fileno(), 1024):
        pass
    os.kill(os.getpid(), signal.SIGTERM)
