"""Requests and answers, as all parts of the API have them: JSON, and sentences for what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from rollout.check.rulebook import rule
from rollout.check.schema import faults
from rollout.diagnostics import Span
from rollout.source.place import Problem

_MEGABYTE = 1024 * 1024

_SECONDS_TO_BRING, _SLOWEST = 20.0, 32 * 1024
"""How long a body may take to come in, and for how many bytes of it there is a second more."""


class ApiError(Exception):
    """A request that is refused: a status, a sentence, the way out, and other members of the answer."""

    def __init__(
        self,
        status: int,
        sentence: str,
        hint: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        **more: Any,
    ) -> None:
        super().__init__(sentence)
        self.status = status
        self.headers = dict(headers or {})
        self.body = {"error": sentence, **({"hint": hint} if hint else {}), **more}


class Json(Response):
    """An answer in JSON."""

    media_type = "application/json"

    def render(self, content: Any) -> bytes:
        """The bytes of it."""
        return orjson.dumps(content)


async def body_of(request: Request, *, limit: int = _MEGABYTE) -> bytes:
    """The body of a request, of ``limit`` bytes at most. Raises ApiError."""
    too_large = ApiError(
        413, f"The body is larger than {limit // _MEGABYTE} MB, which is the most taken here."
    )
    length = request.headers.get("content-length", "")
    if length.isascii() and length.isdigit() and int(length[:20]) > limit:
        raise too_large
    pieces: list[bytes] = []
    size, began = 0, asyncio.get_running_loop().time()
    arriving = request.stream()
    try:
        while True:
            async with asyncio.timeout_at(began + _SECONDS_TO_BRING + size / _SLOWEST):
                piece = await anext(arriving, None)
            if piece is None:
                return b"".join(pieces)
            size += len(piece)
            if size > limit:
                raise too_large
            pieces.append(piece)
    except ClientDisconnect:
        raise ApiError(400, "The body was cut short.") from None
    except TimeoutError:
        raise ApiError(408, "The body took too long to come in.", headers={"connection": "close"}) from None


async def json_of(request: Request, *, limit: int = _MEGABYTE) -> Any:
    """The JSON that a request brings. Raises ApiError."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError(
            415, "The body is not said to be JSON.", "Send it with content-type: application/json."
        )
    data = await body_of(request, limit=limit)
    try:
        return orjson.loads(data)
    except ValueError as error:
        raise ApiError(400, f"The body is no JSON: {error}.") from None


async def object_of(request: Request, *, limit: int = _MEGABYTE) -> dict[str, Any]:
    """The object that a request brings. Raises ApiError."""
    value = await json_of(request, limit=limit)
    if not isinstance(value, dict):
        raise ApiError(400, "The body is to be an object.", pointer="")
    return value


def check_shape(schema: str, value: Any, *, beneath: Sequence[str] = (), at: str = "") -> None:
    """Holds a value against one of the bundled schemas. Raises ApiError that names the JSON pointer of each fault.

    ``beneath`` is where the request's body stands in the value, ``at`` where the value stands in the body: pointers are
    those of the body.
    """
    found = []
    for fault in faults(schema, value):
        known = rule(fault.slug)
        assert known.describe is not None
        message, hint = known.describe(Problem(fault.slug, Span("body", 1, 1, 1, 1), fault.facts))
        route = fault.route[len(beneath) :] if fault.route[: len(beneath)] == tuple(beneath) else fault.route
        found.append({"pointer": at + pointer(route), "message": message, **({"hint": hint} if hint else {})})
    if found:
        first = found[0]
        where = f"At {first['pointer']}: " if first["pointer"] else ""
        raise ApiError(
            400, where + first["message"], first.get("hint"), pointer=first["pointer"], errors=found[:100]
        )


def pointer(route: Sequence[str | int]) -> str:
    """A JSON Pointer (RFC 6901)."""
    return "".join(f"/{str(part).replace('~', '~0').replace('/', '~1')}" for part in route)


def limit_of(request: Request) -> int | None:
    """How many of a list are wanted at most; None for all of them. Raises ApiError."""
    text = request.query_params.get("limit")
    if text is None:
        return None
    digits = text.lstrip("0")
    if not (digits.isascii() and digits.isdigit()):
        raise ApiError(400, "“limit” is to be a whole number from 1 on.", pointer="?limit")
    return int(digits[:10]) if len(digits) <= 10 else None


__all__ = ["ApiError", "Json", "body_of", "check_shape", "json_of", "limit_of", "object_of", "pointer"]
