"""What a request brings in its body, read and held against a schema, in bounded time and beside the event loop."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

from starlette.requests import Request

from rollout.check.rulebook import rule
from rollout.check.schema import faults, is_sound
from rollout.diagnostics import Span
from rollout.platform.server.http import MEGABYTE, ApiError, body_of, pointer
from rollout.platform.server.strictly import read
from rollout.source.place import Problem

P = ParamSpec("P")
T = TypeVar("T")

LARGE = 64 * 1024
"""Bytes from which on a value is worked on beside the event loop."""

_MOST_FAULTS = 50

# Whoever sends much waits for those who did so before, and nobody else does.
_beside = ThreadPoolExecutor(2, "rollout-large")


async def aside(work: Callable[P, T], *args: P.args, **more: P.kwargs) -> T:
    """What ``work`` comes to, done beside the event loop: it takes long, as with all that is large."""
    return await asyncio.get_running_loop().run_in_executor(_beside, lambda: work(*args, **more))


async def json_of(request: Request, *, limit: int = MEGABYTE) -> Any:
    """The JSON that a request brings. Raises ApiError."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise ApiError(
            415, "The body is not said to be JSON.", "Send it with content-type: application/json."
        )
    data = await body_of(request, limit=limit)
    request.state.is_large = len(data) > LARGE
    return await aside(read, data) if request.state.is_large else read(data)


async def object_of(request: Request, *, limit: int = MEGABYTE) -> dict[str, Any]:
    """The object that a request brings. Raises ApiError."""
    value = await json_of(request, limit=limit)
    if not isinstance(value, dict):
        raise ApiError(400, "The body is to be an object.", pointer="")
    return value


async def check_shape(
    request: Request, schema: str, value: Any, *, beneath: Sequence[str] = (), at: str = ""
) -> None:
    """Holds a value of a request against one of the bundled schemas.

    Raises ApiError that names the JSON pointer of each fault, or of the first where there are many. ``beneath`` is
    where the request's body stands in the value, ``at`` where the value stands in the body: pointers are those of the
    body.
    """
    if request.state.is_large or not is_sound(schema, value):
        await aside(_check_shape, schema, value, tuple(beneath), at)


def _check_shape(schema: str, value: Any, beneath: tuple[str, ...], at: str) -> None:
    found = []
    for fault in faults(schema, value, most=_MOST_FAULTS):
        known = rule(fault.slug)
        assert known.describe is not None
        message, hint = known.describe(Problem(fault.slug, Span("body", 1, 1, 1, 1), fault.facts))
        route = fault.route[len(beneath) :] if fault.route[: len(beneath)] == beneath else fault.route
        found.append({"pointer": at + pointer(route), "message": message, **({"hint": hint} if hint else {})})
    if found:
        first = found[0]
        where = f"At {first['pointer']}: " if first["pointer"] else ""
        raise ApiError(
            400, where + first["message"], first.get("hint"), pointer=first["pointer"], errors=found
        )


__all__ = ["LARGE", "aside", "check_shape", "json_of", "object_of"]
