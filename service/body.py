"""Request bodies: JSON, and not more of it than the limit."""

import msgspec
from fastapi import Request

from service.problems import BodyTooLarge, NotJson, WrongContentType

MAX_BODY_BYTES = 1024 * 1024


async def json_body(request: Request) -> object:
    """The body, parsed. Raises WrongContentType, BodyTooLarge, NotJson."""
    _check_content_type(request.headers.get("content-type", ""))
    raw = await _read(request, MAX_BODY_BYTES)
    try:
        return msgspec.json.decode(raw)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise NotJson(str(error)) from error
    except RecursionError as error:
        raise NotJson("nested too deep") from error


def _check_content_type(declared: str) -> None:
    # One that is missing is refused too: a page elsewhere can make a browser post without it, unasked.
    media_type = declared.partition(";")[0].strip().lower()
    if media_type != "application/json":
        raise WrongContentType(f"content-type must be application/json, not {media_type!r}")


async def _read(request: Request, limit: int) -> bytes:
    declared = request.headers.get("content-length", "")
    if declared.isdecimal() and (len(declared) > 18 or int(declared) > limit):
        raise BodyTooLarge(f"at most {limit} bytes are taken")
    raw = bytearray()
    async for piece in request.stream():
        raw += piece
        if len(raw) > limit:
            raise BodyTooLarge(f"at most {limit} bytes are taken")
    return bytes(raw)
