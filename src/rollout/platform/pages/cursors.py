"""Where a page of a table begins: after which row, as its address says."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from starlette.requests import Request

from rollout.platform.server.http import ApiError

R = TypeVar("R")

_LARGEST = 2**53


def after_in(request: Request, kinds: Sequence[type]) -> tuple[Any, ...]:
    """The values that ``after`` has, of these kinds; none where it is not said. Raises ApiError."""
    text = request.query_params.get("after", "")
    if not text:
        return ()
    parts = text.split(".", len(kinds) - 1)
    if len(parts) != len(kinds):
        raise _not_one("after")
    return tuple(
        part if kind is str else _number(part, "after") for part, kind in zip(parts, kinds, strict=True)
    )


def number_in(request: Request, name: str, default: int) -> int:
    """A whole number from 1 on. Raises ApiError."""
    text = request.query_params.get(name, "")
    return max(1, _number(text, name)) if text else default


def place_in(request: Request, name: str) -> int | None:
    """The number of a task, of which the first is 0, as everywhere; None where it is not said. Raises ApiError."""
    text = request.query_params.get(name, "")
    return _number(text, name) if text else None


def rest(
    found: Sequence[R], size: int, place: Callable[[R], Sequence[Any]]
) -> tuple[Sequence[R], str | None]:
    """The rows of a page, of which one too many were looked for, and what ``after`` is of the next page."""
    if len(found) <= size:
        return found, None
    return found[:size], ".".join(str(part) for part in place(found[size - 1]))


def _number(text: str, name: str) -> int:
    if not (text.isascii() and text.isdigit() and len(text) < 17 and int(text) < _LARGEST):
        raise _not_one(name)
    return int(text)


def _not_one(name: str) -> ApiError:
    return ApiError(400, f"“{name}” in the address says no place in a table.", "Begin at the first page.")


__all__ = ["after_in", "number_in", "place_in", "rest"]
