"""Errors as RFC 9457 problems. The one table of status codes is here.

SieveError (streamsieve.errors)
├── BadQuery          a query parameter is wrong: mend the named one
├── NotJson           the body does not parse: send JSON
├── WrongContentType  the body is not declared as JSON: set the header
├── BodyTooLarge      the body is over the limit: send less
└── WritesRefused     this service answers reads only: ask whoever runs it
"""

import logging
from http import HTTPStatus
from typing import Any, NamedTuple

import msgspec
from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from streamsieve.errors import (
    AlreadyExists,
    BadSpec,
    BrokerDown,
    CorruptState,
    SieveError,
    StoreDown,
    UnknownSelector,
)

LOG = logging.getLogger(__name__)

MEDIA_TYPE = "application/problem+json"
MAX_TEXT = 1_000  # of what a stranger sent, told back
RETRY_SECONDS = 1


class BadQuery(SieveError):  # noqa: N818 - named by what the reader must do
    """A query parameter is wrong."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class NotJson(SieveError):  # noqa: N818
    """The body does not parse as JSON."""


class WrongContentType(SieveError):  # noqa: N818
    """The body is not declared as JSON."""


class BodyTooLarge(SieveError):  # noqa: N818
    """The body is over the limit."""


class WritesRefused(SieveError):  # noqa: N818
    """This service answers reads only."""


class Kind(NamedTuple):
    """How one class of errors is told. `detail` '' means: as the error says it."""

    status: int
    word: str
    title: str
    detail: str = ""
    down: str = ""  # the part that does not answer


KINDS: dict[type[SieveError], Kind] = {
    BadSpec: Kind(422, "bad-spec", "The selector's description is wrong"),
    BadQuery: Kind(422, "bad-query", "A query parameter is wrong"),
    NotJson: Kind(400, "not-json", "The body is not JSON"),
    WritesRefused: Kind(403, "writes-refused", "This service answers reads only"),
    UnknownSelector: Kind(404, "unknown-selector", "No such selector"),
    AlreadyExists: Kind(409, "already-exists", "A selector of that name exists"),
    BodyTooLarge: Kind(413, "body-too-large", "The body is too large"),
    WrongContentType: Kind(415, "wrong-content-type", "The body must be application/json"),
    CorruptState: Kind(500, "corrupt-state", "Stored state is damaged", "The log of the service says which."),
    StoreDown: Kind(503, "store-down", "Redis does not answer", "Redis does not answer; try again soon.", "redis"),
    BrokerDown: Kind(503, "broker-down", "Kafka does not answer", "Kafka does not answer; try again soon.", "kafka"),
}


def problem(status: int, word: str, title: str, detail: str, **more: Any) -> Response:
    """A problem document; `word` '' means that the status says it all."""
    kind = f"urn:sieve:problem:{word}" if word else "about:blank"
    body = {"type": kind, "title": title, "status": status, "detail": detail[:MAX_TEXT], **more}
    headers = {"Retry-After": str(RETRY_SECONDS)} if status == HTTPStatus.SERVICE_UNAVAILABLE else {}
    return Response(msgspec.json.encode(body), status, headers, MEDIA_TYPE)


def install(app: FastAPI) -> None:
    """Answer every error of the app with a problem."""
    app.add_exception_handler(SieveError, _on_sieve_error)
    app.add_exception_handler(HTTPException, _on_http_exception)
    app.add_exception_handler(RequestValidationError, _on_validation_error)
    app.add_exception_handler(ClientDisconnect, _on_disconnect)
    app.add_exception_handler(Exception, _on_failure)


def _on_sieve_error(_: Request, error: Exception) -> Response:
    kind = KINDS.get(type(error)) if isinstance(error, SieveError) else None
    if kind is None:
        raise error  # not expected of a route: a 500, with its traceback in the log
    if kind.status == HTTPStatus.INTERNAL_SERVER_ERROR:
        LOG.error("%s: %s", kind.title, error)
    more: dict[str, Any] = {"down": kind.down} if kind.down else {}
    if isinstance(error, BadSpec | BadQuery):
        more["errors"] = [_field_error(error.field, error.message)]
    return problem(kind.status, kind.word, kind.title, kind.detail or str(error), **more)


def _on_http_exception(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)  # noqa: S101 - the handler's signature is Starlette's
    answer = problem(error.status_code, "", HTTPStatus(error.status_code).phrase, str(error.detail))
    answer.headers.update(error.headers or {})
    if error.status_code == HTTPStatus.METHOD_NOT_ALLOWED:
        answer.headers["Allow"] = _allowed(request, answer.headers.get("Allow", "GET"))
    return answer


def _allowed(request: Request, otherwise: str) -> str:
    """All methods of the path: Starlette names those of its first route alone, and HEAD goes wherever GET goes."""
    path = getattr(request.scope.get("route"), "path", "")
    declared = ", ".join(method.upper() for method in request.app.openapi()["paths"].get(path, {})) or otherwise
    return declared.replace("GET", "GET, HEAD")


def _on_validation_error(_: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)  # noqa: S101
    errors = [_field_error(_place(one["loc"]), one["msg"]) for one in error.errors()]
    detail = "; ".join(f"{one['field']}: {one['message']}" for one in errors)
    kind = KINDS[BadQuery]
    return problem(kind.status, kind.word, kind.title, detail, errors=errors)


def _on_disconnect(_: Request, __: Exception) -> Response:
    return problem(400, "", "Bad Request", "The connection ended before the body did.")  # nobody is there to read it


def _on_failure(_: Request, __: Exception) -> Response:
    return problem(500, "", "Internal Server Error", "The service failed; its log says why.")


def _field_error(field: str, message: str) -> dict[str, str]:
    return {"field": field[:MAX_TEXT], "message": message[:MAX_TEXT]}


def _place(location: tuple[int | str, ...]) -> str:
    """Where the wrong value stands, without the word query or path before it."""
    return ".".join(str(part) for part in location[1:]) or str(location[0])
