"""Where a spec holds regular expressions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rollout.check.site import elements
from rollout.check.subject import Subject
from rollout.source.place import Route


def regexes(subject: Subject) -> Iterator[tuple[Route, str]]:
    """Every regular expression of an environment with its route: those of primitives, and those of inputs."""
    for primitive in subject.primitives:
        pattern = primitive.text("pattern")
        if primitive.value.get("type") == "output_matches" and pattern is not None:
            yield (*primitive.route, "pattern"), pattern
    for page in subject.pages:
        for element in elements(page):
            pattern = element.text("pattern")
            if element.value.get("type") == "input" and pattern is not None:
                yield (*element.route, "pattern"), pattern


def schema_patterns(subject: Subject) -> Iterator[tuple[Route, str]]:
    """The patterns in the JSON Schemas of tools and primitives, which have a dialect of their own."""
    for tool in subject.tools:
        yield from _patterns((*tool.route, "paramsSchema"), tool.value.get("paramsSchema"))
    for primitive in subject.primitives:
        if primitive.value.get("type") == "output_json":
            yield from _patterns((*primitive.route, "schema"), primitive.value.get("schema"))


def _patterns(root: Route, schema: Any) -> Iterator[tuple[Route, str]]:
    pending: list[tuple[Route, Any]] = [(root, schema)]
    while pending:
        route, value = pending.pop()
        if isinstance(value, dict):
            if isinstance(value.get("pattern"), str) and route[-1] not in _NAMED:
                yield (*route, "pattern"), value["pattern"]
            if isinstance(value.get("patternProperties"), dict) and route[-1] not in _NAMED:
                yield from (((*route, "patternProperties", key), key) for key in value["patternProperties"])
            pending.extend(((*route, key), each) for key, each in value.items() if key not in _DATA)
        elif isinstance(value, list):
            pending.extend(((*route, index), each) for index, each in enumerate(value))


# Below these stand names that the author chose, and values that are no schemas.
_NAMED = ("properties", "$defs", "definitions", "paramsSchema")
_DATA = ("const", "enum", "default", "examples")

__all__ = ["regexes", "schema_patterns"]
