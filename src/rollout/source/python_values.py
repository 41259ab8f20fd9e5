"""Turns Python values into JSON values, and says where that cannot be done."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from rollout.source.place import Route

MAX_DEPTH = 100

Tell = Callable[[str, Route, dict[str, Any]], None]
"""Takes the slug of a problem, the route of the value that has it, and the facts."""


def to_json(value: Any, route: Route, tell: Tell, *, above: tuple[int, ...] = ()) -> Any:
    """``value`` as a new JSON value: tuples become lists, subclasses their plain type.

    What JSON cannot hold goes to ``tell``, and None stands in its place.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, str):
        text = str.__str__(value)
        return text if _is_text(text) else _replace_surrogates(text, route, tell)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if math.isfinite(value):
            return float(value)
        return tell("bad-number", route, {"written": repr(float(value))})
    if isinstance(value, Mapping | list | tuple):
        if id(value) in above:
            return tell("not-json", route, {"kind": "cycle", "type": type(value).__name__})
        if len(above) >= MAX_DEPTH:
            return tell("too-deep", route, {"max_depth": MAX_DEPTH})
        above = (*above, id(value))
        if isinstance(value, Mapping):
            return _object(value, route, tell, above)
        return [to_json(item, (*route, index), tell, above=above) for index, item in enumerate(value)]
    return tell("not-json", route, {"kind": "type", "type": type(value).__name__})


def _object(value: Mapping[Any, Any], route: Route, tell: Tell, above: tuple[int, ...]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    for key, item in value.items():
        if isinstance(key, str) and _is_text(key):
            made[str.__str__(key)] = to_json(item, (*route, str.__str__(key)), tell, above=above)
        else:
            tell("not-json", route, {"kind": "key", "type": type(key).__name__, "key": ascii(key)[:80]})
    return made


def _is_text(text: str) -> bool:
    # A lone surrogate has no UTF-8 form, and so no JSON form either.
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def _replace_surrogates(text: str, route: Route, tell: Tell) -> str:
    first = next(character for character in text if "\ud800" <= character <= "\udfff")
    tell("lone-surrogate", route, {"written": f"\\u{ord(first):04x}"})
    return text.encode("utf-8", "replace").decode("utf-8")


__all__ = ["to_json"]
