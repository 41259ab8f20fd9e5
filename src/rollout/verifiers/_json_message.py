"""Reads a message as JSON, strictly: no key comes twice in it, and whole numbers stay exact."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import orjson

from rollout.language.compare import show

_DEEPEST = 100


class NoJsonError(ValueError):
    """A text that is no JSON; its text is the end of a sentence."""


def read_json(text: str) -> Any:
    """The JSON value that a text is. Raises NoJsonError."""
    try:
        orjson.loads(text)
    except orjson.JSONDecodeError as error:
        at = f" (line {error.lineno}, column {error.colno})" if text.strip() else ""
        raise NoJsonError(f"{error.msg}{at}") from None
    try:
        # orjson takes the last of two equal keys, and rounds whole numbers beyond 64 bits.
        value = json.loads(text, object_pairs_hook=_object)
    except RecursionError:
        raise NoJsonError("it is nested too deeply") from None
    except NoJsonError:
        raise
    except ValueError as error:
        raise NoJsonError(str(error)) from None
    may_be_deep = text.count("[") + text.count("{") > _DEEPEST and isinstance(value, dict | list)
    if may_be_deep and _depth(value) > _DEEPEST:
        raise NoJsonError("it is nested too deeply")
    return value


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(key for key, _ in pairs)
        raise NoJsonError(f"the key {show(counts.most_common(1)[0][0])} comes twice in one object")
    return found


def _depth(value: Any) -> int:
    deepest, pending = 0, [(value, 1)]
    while pending:
        inside, depth = pending.pop()
        deepest = max(deepest, depth)
        members = inside.values() if isinstance(inside, dict) else inside
        pending.extend((each, depth + 1) for each in members if isinstance(each, dict | list))
    return deepest


__all__ = ["NoJsonError", "read_json"]
