import json
from collections.abc import Iterator

import httpx
import pytest

from service.app import create_app
from service.body import MAX_BODY_BYTES
from store.memory import MemoryStore
from store.types import Registered, Registry
from streamsieve.errors import CorruptState, Fenced, StoreDown
from streamsieve.spec import Spec
from tests.service.running import running, spec_json


def assert_problem(answer: httpx.Response, status: int) -> dict[str, object]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    body: dict[str, object] = answer.json()
    assert body["status"] == status
    assert all(isinstance(body[name], str) and body[name] for name in ("type", "title", "detail"))
    return body


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/nowhere", 404),
        ("GET", "/selectors/", 404),
        ("GET", "/selectors/nobody", 404),
        ("GET", "/selectors/%00%ff%3Cb%3E", 404),
        ("DELETE", "/selectors/%2e%2e%0d%0a", 404),
        ("DELETE", "/selectors/nobody", 404),
        ("GET", "/features/top?selector=nobody", 404),
        ("GET", "/features/top?selector=nobody&k=0", 422),
        ("POST", "/features/top", 405),
        ("PUT", "/selectors", 405),
        ("PATCH", "/selectors/x", 405),
        ("BREW", "/livez", 405),
    ],
)
def test_every_error_is_a_problem(empty_client: httpx.Client, method: str, path: str, status: int) -> None:
    assert_problem(empty_client.request(method, path), status)


def test_405_says_what_is_allowed(empty_client: httpx.Client) -> None:
    asked = {"/livez": "GET, HEAD", "/selectors": "GET, HEAD, POST", "/selectors/x": "GET, HEAD, DELETE"}
    assert {path: empty_client.patch(path).headers["allow"] for path in asked} == asked
    assert empty_client.post("/docs").headers["allow"] == "GET, HEAD"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"{",
        b"{'a': 1}",
        b'{"budget": NaN}',
        b'"\xff"',
        b'"\\ud800"',
        b"[" * 200_000,
        b'{"budget": ' + b"9" * 10_000 + b"}",
    ],
)
def test_a_body_that_is_not_json(empty_client: httpx.Client, body: bytes) -> None:
    assert_problem(empty_client.post("/selectors", content=body, headers={"content-type": "application/json"}), 400)


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/x-www-form-urlencoded", "application/jsonp"])
def test_a_body_not_declared_as_json(empty_client: httpx.Client, content_type: str | None) -> None:
    headers = {"content-type": content_type} if content_type else {}
    assert_problem(empty_client.post("/selectors", content=json.dumps(spec_json()), headers=headers), 415)


def test_a_charset_does_no_harm(client: httpx.Client) -> None:
    headers = {"content-type": "Application/JSON; charset=utf-8"}
    assert client.post("/selectors", content=json.dumps(spec_json()), headers=headers).status_code == 201


def padded(size: int) -> bytes:
    body = json.dumps(spec_json()).encode()
    return body + b" " * (size - len(body))


def test_a_body_over_the_limit_is_refused_by_its_declared_length(client: httpx.Client) -> None:
    headers = {"content-type": "application/json"}
    assert_problem(client.post("/selectors", content=padded(MAX_BODY_BYTES + 1), headers=headers), 413)
    assert_problem(client.post("/selectors", content=padded(6 * MAX_BODY_BYTES), headers=headers), 413)
    assert client.post("/selectors", content=padded(MAX_BODY_BYTES), headers=headers).status_code == 201


def test_a_body_over_the_limit_is_refused_while_it_streams(empty_client: httpx.Client) -> None:
    def pieces() -> Iterator[bytes]:
        for _ in range(40):
            yield b" " * 65_536

    answer = empty_client.post("/selectors", content=pieces(), headers={"content-type": "application/json"})
    assert_problem(answer, 413)


def test_a_long_value_is_not_told_back_in_full(empty_client: httpx.Client) -> None:
    answer = empty_client.post("/selectors", json=spec_json(loss="x" * 500_000))
    assert_problem(answer, 422)
    assert len(answer.content) < 5_000


class FailingStore(MemoryStore):
    """A store that fails as it is told."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error: Exception | None = error

    def _fail(self) -> None:
        if self.error is not None:
            raise self.error

    def registry_version(self) -> str:
        self._fail()
        return super().registry_version()

    def registry(self) -> Registry:
        self._fail()
        return super().registry()

    def create(self, spec: Spec) -> Registered:
        self._fail()
        return super().create(spec)

    def ping(self) -> None:
        self._fail()


CALLS = [("GET", "/selectors"), ("GET", "/selectors/spam"), ("GET", "/features/top"), ("POST", "/selectors")]


def test_a_store_that_is_down_is_503_and_back_without_a_restart() -> None:
    store = FailingStore(StoreDown("redis://:secret@host"))
    with running(create_app(store, None, writes_allowed=True)) as client:
        for method, path in CALLS:
            answer = client.request(method, path, json=spec_json())
            assert assert_problem(answer, 503)["down"] == "redis"
            assert answer.headers["retry-after"] == "1"
            assert "secret" not in answer.text
        store.error = None
        assert client.post("/selectors", json=spec_json()).status_code == 201
        assert client.get("/features/top").status_code == 200


@pytest.mark.parametrize("error", [RuntimeError("secret place"), Fenced("secret place"), CorruptState("secret place")])
def test_a_failure_tells_nothing_of_the_inside(error: Exception, caplog: pytest.LogCaptureFixture) -> None:
    with running(create_app(FailingStore(error), None, writes_allowed=True)) as client:
        answer = client.get("/selectors")
        assert_problem(answer, 500)
        assert "secret" not in answer.text
    assert "secret place" in caplog.text
