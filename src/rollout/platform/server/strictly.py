"""Reads the JSON of a request as strictly as that of a file: no key twice, no depth without end, whatever it costs.

A number that is whole is an int, however it is written: JSON Schema takes ``5.0`` for an integer, and so it is kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import orjson

from rollout.language.canonical import whole_numbers
from rollout.language.depth import is_deeper
from rollout.platform.server.http import ApiError, pointer
from rollout.source.place import MAX_DEPTH

_DEEPEST = MAX_DEPTH + 2
"""As deep as a file of an environment, in what is said around it."""


class _Twice(Exception):
    """An object that has a key twice."""

    def __init__(self, key: str = "") -> None:
        super().__init__(key)
        self.key = key


def read(data: bytes) -> Any:
    """The value of a JSON text. Raises ApiError."""
    try:
        value = orjson.loads(data)
    except ValueError as error:
        if "depth limit" in str(error):
            raise _too_deep() from None
        raise ApiError(400, f"The body is no JSON: {error}.") from None
    if data.count(b"[") + data.count(b"{") > _DEEPEST and is_deeper(value, _DEEPEST):
        raise _too_deep()
    try:
        # Nothing is kept of what is read a second time.
        _decoder(_nothing_twice).decode(data.decode())
    except _Twice:
        key, where = next(_twice(_decoder(_marking).decode(data.decode()), ()))
        raise ApiError(
            400, f"At {where}: the key “{key[:80]}” is there twice.", "Keep one of the two.", pointer=where
        ) from None
    return whole_numbers(value, in_order=False)


def _too_deep() -> ApiError:
    return ApiError(
        400,
        f"More than {_DEEPEST} objects and lists lie inside each other in the body.",
        "Write deep data as a flat list whose members name each other.",
    )


def _decoder(hook: Any) -> json.JSONDecoder:
    return json.JSONDecoder(object_pairs_hook=hook, parse_int=_nothing, parse_float=_nothing)


def _nothing(text: str) -> None:
    return None


def _nothing_twice(pairs: list[tuple[str, Any]]) -> None:
    if len(dict(pairs)) < len(pairs):
        raise _Twice


def _marking(pairs: list[tuple[str, Any]]) -> Any:
    seen: dict[str, Any] = {}
    for key, value in pairs:
        if key in seen:
            return _Twice(key)
        seen[key] = value
    return seen


def _twice(value: Any, route: tuple[str | int, ...]) -> Iterator[tuple[str, str]]:
    if isinstance(value, _Twice):
        yield value.key, pointer((*route, value.key))
    elif isinstance(value, dict):
        for key, each in value.items():
            yield from _twice(each, (*route, key))
    elif isinstance(value, list):
        for index, each in enumerate(value):
            yield from _twice(each, (*route, index))


__all__ = ["read"]
