"""Reading requests: what is malformed, too long or not allowed is refused with a line."""

import json
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from samurai_env.game_record import LARGEST

LONGEST_BODY = LARGEST + 1000  # bytes of a request


class Refused(Exception):  # noqa: N818
    """A request that is answered with a status and a line."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status = status


async def refuse(request: Request, error: Exception) -> Response:
    """The answer to a request that is refused."""
    assert isinstance(error, Refused)
    return JSONResponse({"error": str(error)}, error.status)


async def read_body(request: Request) -> bytes:
    """The body of a request.

    Raises:
        Refused: it is too long.
    """
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise Refused(413, f"a request has at most {LONGEST_BODY:,} bytes")
    return bytes(body)


async def read_json(request: Request) -> dict[str, Any]:
    """The JSON object in the body of a request.

    Raises:
        Refused: it is something else.
    """
    if request.headers.get("content-type", "").partition(";")[0] != "application/json":
        raise Refused(415, "the request should be application/json")
    try:
        body = json.loads(await read_body(request))
    except (ValueError, RecursionError):
        raise Refused(400, "the request is not JSON") from None
    if not isinstance(body, dict):
        raise Refused(400, "the request is not a JSON object")
    return body


def whole(body: dict[str, Any], name: str, least: int, most: int) -> int:
    """A whole number of a request.

    Raises:
        Refused: it is something else, or out of range.
    """
    value = body.get(name)
    if type(value) is not int or not least <= value <= most:
        raise Refused(400, f"{name} is a whole number from {least} to {most}")
    return value


def query_number(request: Request, name: str) -> int | None:
    """A number in the address of a request, None if there is none.

    Raises:
        Refused: it is something else.
    """
    text = request.query_params.get(name)
    if text is None:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= 15):
        raise Refused(400, f"{name} is a whole number")
    return int(text)
