"""How a person calls a part of an environment: “tool “refund””, “primitive 2”, “the verifier”."""

from __future__ import annotations

from functools import cache
from typing import Any

from rollout.check.wording import quoted
from rollout.source.contract import schema
from rollout.source.place import Route

_MEMBERS = {
    "accepts": "accepted values",
    "cases": "case",
    "elements": "element",
    "items": "item",
    "mutates": "change",
    "options": "option",
    "pages": "page",
    "primitives": "primitive",
    "rows": "row",
    "solution": "step",
    "tasks": "task",
    "tools": "tool",
}
_KEYED = {
    "commands": "command",
    "files": "file",
    "headers": "header",
    "paramsSchema": "parameter",
    "prices": "the price of",
    "providers": "provider",
    "vars": "variable",
}
_REQUEST = "the request"
_REQUESTS = frozenset(("generation", "refinement", "run", "training"))
_NAMED_BY = ("name", "id", "url", "title", "label", "text")
_WITH_HOME = frozenset(("accepts", "cases", "elements", "items", "mutates", "options", "rows"))


def whole(root: str) -> str:
    """What a value of the schema called ``root`` is called as a whole."""
    if root in _REQUESTS:
        return _REQUEST
    return (
        f"the {root}" if root in ("environment", "payload", "settings", "task", "verifier") else "the config"
    )


def section(root: str, value: Any, route: Route) -> str:
    """The name of what stands at ``route`` into ``value``, which is as a whole called ``root`` (“the task”).

    Members of lists go by their name, or by their number from 1 where they have none.
    """
    label = root
    for depth, step in enumerate(route):
        inside = value[step] if _has(value, step) else None
        above = route[depth - 1] if depth else None
        if isinstance(step, int):
            label = _member(str(above), step, inside, label)
        elif above in _KEYED:
            label = f"{_KEYED[str(above)]} {quoted(step)}{_of(label) if above == 'paramsSchema' else ''}"
        elif step == "environment" and label == "the payload":
            label = "the environment"
        elif step == "config":
            label = "the config"
        elif step == "verifier":
            label = "the verifier"
        elif (step not in _MEMBERS and step not in _KEYED) or (isinstance(inside, dict) and step in _MEMBERS):
            label = f"“{step}”{_of(label)}"
        value = inside
    return label


def part(root: str, value: Any, route: Route) -> str:
    """The name of one value of an object or list: “weight” of primitive “refunded”, item 2 of “terms” of …"""
    if not route or isinstance(route[-1], int):
        return section(root, value, route)
    if (len(route) > 1 and route[-2] in _KEYED) or route[-1] in ("config", "verifier"):
        return section(root, value, route)
    return f"“{route[-1]}”{_of(section(root, value, route[:-1]))}"


def _member(key: str, index: int, value: Any, home: str) -> str:
    noun = _MEMBERS.get(key)
    if noun is not None and home == _REQUEST:
        return f"item {index + 1} of “{key}”{_of(home)}"
    if noun is None:
        return f"item {index + 1}{_of(home)}"
    name = None
    if isinstance(value, dict):
        name = next(
            (value[each] for each in _NAMED_BY if isinstance(value.get(each), str) and value[each]), None
        )
        if key == "elements" and name is not None and value.get("type") in _element_types():
            noun = value["type"]
    if key == "solution":
        return f"step {index + 1} of the solution"
    label = f"{noun} {quoted(name, 40) if name is not None else index + 1}"
    return label + _of(home) if key in _WITH_HOME else label


@cache
def _element_types() -> tuple[str, ...]:
    return tuple(schema("browser")["$defs"]["element"]["properties"]["type"]["enum"])


def _of(home: str) -> str:
    return "" if home == "the environment" else f" of {home}"


def _has(value: Any, step: str | int) -> bool:
    if isinstance(step, str):
        return isinstance(value, dict) and step in value
    return isinstance(value, list) and 0 <= step < len(value)


__all__ = ["part", "section", "whole"]
