"""A loopback HTTP server that answers as it is told, for commands that read over HTTP."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Script:
    """What to answer to each request in turn (the last again and again), and what was asked."""

    def __init__(self, *answers: tuple[int, dict[str, str], bytes]) -> None:
        self.answers = list(answers)
        self.asked: list[tuple[str, str | None]] = []

    def next(self) -> tuple[int, dict[str, str], bytes]:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


def top_set(version: int, *names: str) -> tuple[int, dict[str, str], bytes]:
    """An answer of /features/top."""
    features = [{"rank": rank, "feature": name, "weight": 0.5, "score": 2.0} for rank, name in enumerate(names, 1)]
    facts = {"selector": "spam", "algorithm": "b-arda", "version": version, "applied": 10, "samples": 10, "budget": 5}
    return 200, {"ETag": f'"{version}"'}, json.dumps({**facts, "k": 5, "features": features}).encode()


@contextmanager
def http_server(script: Script) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            script.asked.append((self.path, self.headers.get("If-None-Match")))
            status, headers, body = script.next()
            self.send_response(status)
            for name, value in {**headers, "Content-Length": str(len(body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()
