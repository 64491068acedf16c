"""`sieve dev`: everything on this machine, for development; ends, with all it started, on SIGINT or SIGTERM."""

import argparse
import json
import threading
import time

from tools.logs import configure_logs
from tools.settings import Settings
from tools.stack.stack import Stack, Wanted
from tools.stopping import stop_event

WATCH_SECONDS = 0.2


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """As in the contract."""
    parser.add_argument("--port", type=port_number, default=0, help="of the HTTP service; 0 takes any free one")
    parser.add_argument("--workers", type=worker_count, default=1, metavar="N", help="worker processes")
    parser.add_argument("--kafka", default="embedded", help="embedded, apache (a real broker), or HOST:PORT,...")
    parser.add_argument("--redis", default="embedded", help="embedded, or a URL")
    parser.add_argument("--selectors", metavar="FILE", help="JSON file of selectors to create at the start")


def port_number(text: str) -> int:
    """A port, or 0 for any free one."""
    if not text.isdecimal() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"must be a whole number from 0 to 65535, not {text!r}")
    return int(text)


def worker_count(text: str) -> int:
    """A number of processes from 1 to 64."""
    if not text.isdecimal() or not 1 <= int(text) <= 64:
        raise argparse.ArgumentTypeError(f"must be a whole number from 1 to 64, not {text!r}")
    return int(text)


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Until told to stop."""
    stopping = stop_event()
    configure_logs(settings.log_level, settings.log_format)
    wanted = Wanted(args.kafka, args.redis, args.workers, args.port, args.selectors)
    with Stack(wanted, settings) as stack:
        print(json.dumps(stack.described()), flush=True)
        watch(stack, stopping)
    return 0


def watch(stack: Stack, stopping: threading.Event) -> None:
    """Start again whoever dies, until told to stop."""
    while not stopping.wait(WATCH_SECONDS):
        for child in stack.children:
            child.revive(time.monotonic())
