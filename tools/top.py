"""`sieve top`: the served features of a selector, once or as they change."""

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
from rich.console import Console
from rich.live import Live
from rich.text import Text

from tools.failures import BadArgument, ServiceDown
from tools.numbers import counting_number
from tools.output import as_json, feature_table, one_line, say, shown
from tools.redaction import redacted_url
from tools.settings import Settings

MOST = 10_000
SECONDS_A_LOOK = 1.0
TIMEOUT = 5.0


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Its arguments."""
    parser.add_argument("selector", metavar="SELECTOR", help="the selector's name")
    parser.add_argument("-k", type=counting_number, default=20, metavar="K", help="how many features; default: 20")
    parser.add_argument("--watch", action="store_true", help="look again each second, until interrupted")
    parser.add_argument("--url", metavar="URL", help="where the service is; default: the setting SIEVE_URL")
    parser.add_argument("--output", choices=("json", "table"), default="table", help="default: table")


def run(args: argparse.Namespace, settings: Settings) -> int:
    """Show it."""
    if args.k > MOST:
        raise BadArgument(f"-k {args.k}: must be at most {MOST}")
    with httpx.Client(base_url=_checked(args.url or settings.url), timeout=TIMEOUT) as client:
        view = TopView(client, args.selector, args.k)
        if args.watch:
            watch(view, args.output)
        else:
            say(rendered(view.look() or {}, args.output))
    return 0


class TopView:
    """Asks the service for the served set, and knows by ETag whether it is a new one."""

    def __init__(self, client: httpx.Client, selector: str, k: int) -> None:
        self._client = client
        self._query = httpx.QueryParams(selector=selector, k=k)
        self._etag = ""

    def look(self) -> dict[str, Any] | None:
        """The served set, None if it is the one seen last; raises ServiceDown."""
        headers = {"If-None-Match": self._etag} if self._etag else {}
        try:
            answer = self._client.get("/features/top", params=self._query, headers=headers)
        except httpx.HTTPError as error:
            raise ServiceDown(f"{self._where()} does not answer: {error}") from None
        if answer.status_code == httpx.codes.NOT_MODIFIED:
            return None
        top = self._body(answer)
        self._etag = answer.headers.get("etag", "")
        return top

    def _body(self, answer: httpx.Response) -> dict[str, Any]:
        try:
            body = answer.json()
        except ValueError:
            body = None
        if answer.is_success and isinstance(body, dict) and _are_features(body.get("features")):
            return body
        told = body.get("detail") or body.get("title") if isinstance(body, dict) else None
        raise ServiceDown(f"{self._where()} answers {answer.status_code}: {told or 'it is no StreamSieve service'}")

    def _where(self) -> str:
        return redacted_url(str(self._client.base_url)).rstrip("/")


def watch(view: TopView, output: str) -> None:
    """Show each new set, until interrupted. A service that goes away for a while is waited for."""
    shown_last = rendered(view.look() or {}, output)
    with _screen(output) as show:
        show(shown_last)
        while True:
            time.sleep(SECONDS_A_LOOK)
            try:
                top = view.look()
            except ServiceDown as error:
                if output == "table":
                    show(f"{shown_last}\n\n{one_line(str(error))}")
                continue
            if top is not None:
                shown_last = rendered(top, output)
                show(shown_last)


def rendered(top: dict[str, Any], output: str) -> str:
    """The set as a JSON line or a table; everything in it is a stranger's."""
    if output == "json":
        return as_json(top)
    facts = ", ".join(f"{name} {shown(str(top.get(name)))}" for name in ("algorithm", "version", "applied", "samples"))
    return f"{shown(str(top.get('selector')))}: {facts}\n{feature_table(top['features'])}"


@contextmanager
def _screen(output: str) -> Iterator[Any]:
    """Redraws in place on a terminal; elsewhere each new set is printed below the last."""
    console = Console()
    if output == "json" or not console.is_terminal:
        yield say
        return
    with Live(console=console, auto_refresh=False, vertical_overflow="crop") as live:
        yield lambda text: live.update(Text(text, no_wrap=True), refresh=True)


def _are_features(listed: object) -> bool:
    return isinstance(listed, list) and all(isinstance(each, dict) for each in listed)


def _checked(url: str) -> str:
    try:
        known = httpx.URL(url)
    except httpx.InvalidURL:
        known = httpx.URL("")
    if known.scheme not in ("http", "https") or not known.host:
        raise BadArgument(f"--url {redacted_url(url)}: must be http://HOST:PORT or https://HOST:PORT")
    return url
