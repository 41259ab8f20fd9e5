"""Requests and answers, as all parts of the API have them: JSON, and sentences for what is refused."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import orjson
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

MEGABYTE = 1024 * 1024

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


async def body_of(request: Request, *, limit: int = MEGABYTE) -> bytes:
    """The body of a request, of ``limit`` bytes at most. Raises ApiError."""
    most = f"{limit // MEGABYTE} MB" if limit >= MEGABYTE else f"{limit // 1024} KB"
    too_large = ApiError(413, f"The body is larger than {most}, which is the most taken here.")
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


__all__ = ["MEGABYTE", "ApiError", "Json", "body_of", "limit_of", "pointer"]
