"""In which order the format writes the keys of an object, and which keys are a person's own data.

The order is the one in which the JSON Schemas of the contract list their ``properties``. An object that no schema
describes key by key (fixtures, state, ground truth, anything marked ``x-data``) is data: its keys are sorted.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache, cached_property
from typing import Any

from rollout.language.canonical import whole_numbers
from rollout.source.contract import schema, schema_names

_COMBINERS = ("allOf", "anyOf", "oneOf")
_BRANCHES = ("if", "then", "else")


class Layout:
    """How one value of the format is laid out: the merged view of every schema that may apply to it."""

    def __init__(self, nodes: tuple[tuple[str, dict[str, Any]], ...]) -> None:
        self._nodes = tuple(_expand(nodes))

    @cached_property
    def is_data(self) -> bool:
        """Whether the value belongs to the author whole: keys are kept and sorted."""
        if any(node.get("x-data") for _, node in self._nodes):
            return True
        return not any(
            isinstance(node.get(word), dict)
            for _, node in self._nodes
            for word in ("properties", "items", "additionalProperties")
        )

    @cached_property
    def keys(self) -> dict[str, Layout]:
        """The published keys, in their order."""
        found: dict[str, list[tuple[str, dict[str, Any]]]] = {}
        for home, node in self._nodes:
            for key, below in node.get("properties", {}).items():
                if isinstance(below, dict):
                    found.setdefault(key, []).append((home, below))
        return {key: Layout(tuple(nodes)) for key, nodes in found.items()}

    @cached_property
    def others(self) -> Layout:
        """The layout of the values under keys that are not published, such as the parameters of a tool."""
        return Layout(tuple(self._below("additionalProperties")))

    @cached_property
    def items(self) -> Layout:
        """The layout of the members of an array."""
        return Layout(tuple(self._below("items")))

    @cached_property
    def extensible(self) -> bool:
        """Whether ``x-…`` keys are extensions here, which stay in the source."""
        return any("^x-" in node.get("patternProperties", {}) for _, node in self._nodes)

    @cached_property
    def defaults(self) -> dict[str, bool | int | float]:
        """What an absent switch or number stands for, by key, where the schema says it."""
        return {
            key: node["default"]
            for key, below in self.keys.items()
            for _, node in below._nodes
            if isinstance(node.get("default"), bool | int | float)
        }

    def _below(self, word: str) -> Iterator[tuple[str, dict[str, Any]]]:
        for home, node in self._nodes:
            if isinstance(below := node.get(word), dict):
                yield home, below

    def arrange(self, value: Any) -> Any:
        """A copy of ``value`` in canonical order, whole floats as ints, without extension keys."""
        if isinstance(value, list):
            return value[:] if not value else [self.items.arrange(item) for item in value]
        if not isinstance(value, dict) or self.is_data:
            return whole_numbers(value)
        arranged = {key: below.arrange(value[key]) for key, below in self.keys.items() if key in value}
        for key in sorted(value.keys() - arranged.keys()):
            if not (self.extensible and key.startswith("x-")):
                arranged[key] = self.others.arrange(value[key])
        return arranged

    def extensions(
        self, value: Any, route: tuple[str | int, ...] = ()
    ) -> Iterator[tuple[tuple[str | int, ...], Any]]:
        """The ``x-…`` keys that :meth:`arrange` leaves out: each with its route and its value."""
        if isinstance(value, list):
            for index, item in enumerate(value):
                yield from self.items.extensions(item, (*route, index))
        elif isinstance(value, dict) and not self.is_data:
            for key, member in value.items():
                if key in self.keys:
                    yield from self.keys[key].extensions(member, (*route, key))
                elif self.extensible and key.startswith("x-"):
                    yield (*route, key), member
                else:
                    yield from self.others.extensions(member, (*route, key))


@cache
def layout(name: str) -> Layout:
    """The layout of what the schema ``name`` (``workflow``, ``verifier``, …) describes; data where there is none."""
    if name not in schema_names():
        return Layout(())
    return Layout(((name, schema(name)),))


def _expand(nodes: tuple[tuple[str, dict[str, Any]], ...]) -> Iterator[tuple[str, dict[str, Any]]]:
    seen: set[int] = set()
    waiting = list(reversed(nodes))
    while waiting:
        home, node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        yield home, node
        below: list[tuple[str, dict[str, Any]]] = []
        if isinstance(reference := node.get("$ref"), str):
            below.extend(_resolve(home, reference))
        below += [
            (home, member) for word in _COMBINERS for member in node.get(word, ()) if isinstance(member, dict)
        ]
        below += [(home, member) for word in _BRANCHES if isinstance(member := node.get(word), dict)]
        waiting.extend(reversed(below))


def _resolve(home: str, reference: str) -> Iterator[tuple[str, dict[str, Any]]]:
    document, _, pointer = reference.partition("#")
    name = document.rsplit("/", 1)[-1].removesuffix(".schema.json") or home
    if name not in schema_names():
        return
    node: Any = schema(name)
    for step in pointer.split("/")[1:]:
        node = node.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(node, dict) else None
    if isinstance(node, dict):
        yield name, node


__all__ = ["Layout", "layout"]
