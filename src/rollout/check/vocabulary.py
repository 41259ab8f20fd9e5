"""Which keys the schemas know where: the subschemas that apply to a value, and the homes of a key gone astray."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from rollout.source.contract import schema, templates
from rollout.source.place import Route

_SUFFIX = ".schema.json"


@dataclass(frozen=True, slots=True)
class Node:
    """One subschema, and the name of the schema whose file it stands in, from where its references lead on."""

    file: str
    schema: dict[str, Any]

    def at(self, subschema: Any) -> list[Node]:
        """``subschema`` of this node as a list of none or one; ``true`` and ``false`` say nothing about keys."""
        return [Node(self.file, subschema)] if isinstance(subschema, dict) else []

    def referred(self) -> list[Node]:
        """What ``$ref`` leads to."""
        reference = self.schema.get("$ref")
        if reference is None:
            return []
        name, _, pointer = reference.partition("#")
        file = name.rpartition("/")[2].removesuffix(_SUFFIX) or self.file
        target: Any = schema(file)
        for step in pointer.split("/")[1:]:
            target = target[step]
        return Node(file, target).at(target)


def applying(nodes: Sequence[Node], value: Any) -> list[Node]:
    """All subschemas that speak of ``value``: ``nodes``, what they refer to, and the branches that it takes."""
    found: list[Node] = []
    left = list(nodes)
    while left:
        node = left.pop(0)
        found.append(node)
        left += node.referred()
        for member in node.schema.get("allOf", ()):
            left += node.at(member)
        if "if" in node.schema:
            branch = "then" if _holds(node.schema["if"], value) else "else"
            left += node.at(node.schema.get(branch))
    return found


def below(nodes: Sequence[Node], step: str | int) -> list[Node]:
    """The subschemas for one member of a value that ``nodes`` (from :func:`applying`) speak of."""
    found: list[Node] = []
    for node in nodes:
        properties = node.schema.get("properties", {})
        if isinstance(step, int):
            found += node.at(node.schema.get("items"))
        elif step in properties:
            found += node.at(properties[step])
        else:
            found += node.at(node.schema.get("additionalProperties"))
    return found


def along(root: str, value: Any, route: Route) -> list[list[Node]]:
    """For each depth of ``route`` into ``value``, the subschemas of schema ``root`` that apply there."""
    nodes = applying([Node(root, schema(root))], value)
    depths = [nodes]
    for step in route:
        value = value[step]
        nodes = applying(below(nodes, step), value)
        depths.append(nodes)
    return depths


def keys(nodes: Sequence[Node]) -> dict[str, dict[str, Any]]:
    """The keys that ``nodes`` allow, in published order, each with what its subschemas say together."""
    found: dict[str, dict[str, Any]] = {}
    refused: set[str] = set()
    for node in nodes:
        for key, subschema in node.schema.get("properties", {}).items():
            if subschema is False:
                refused.add(key)
                continue
            told = found.setdefault(key, {})
            for each in reversed(applying(node.at(subschema), None)):
                told.update(each.schema)
    return {key: told for key, told in found.items() if key not in refused}


@dataclass(frozen=True, slots=True)
class Branch:
    """One kind of an object whose ``key`` (``kind`` of a tool, ``type`` of a primitive) says which kind it is."""

    key: str
    value: str
    nodes: tuple[Node, ...]

    @property
    def keys(self) -> dict[str, dict[str, Any]]:
        """The keys that this kind takes."""
        return keys(self.nodes)

    def is_whole(self, value: Mapping[str, Any]) -> bool:
        """Whether an object has all that one of this kind has to have."""
        for node in self.nodes:
            ways = [way["required"] for way in node.schema.get("anyOf", ()) if "required" in way]
            if not value.keys() >= set(node.schema.get("required", ())):
                return False
            if ways and not any(value.keys() >= set(way) for way in ways):
                return False
        return True


def branches(nodes: Sequence[Node]) -> list[Branch]:
    """The kinds that an object may be of, where ``nodes`` choose by one key; empty where they do not."""
    found = []
    for node in nodes:
        for member in node.schema.get("allOf", ()):
            for key, test in member.get("if", {}).get("properties", {}).items():
                if "const" in test:
                    then = applying(node.at(member.get("then")), None)
                    found.append(Branch(key, test["const"], tuple(then)))
    return found


@dataclass(frozen=True, slots=True)
class Home:
    """A part of an environment that takes a certain key: the keys that lead to it, and its schema's title."""

    way: tuple[str, ...]
    title: str


def homes_above(root: str, value: Any, route: Route, key: str) -> Iterator[Route]:
    """The routes of the objects around what stands at ``route`` that know ``key``, innermost first."""
    depths = along(root, value, route)
    for depth in range(len(route) - 1, -1, -1):
        if key in keys(depths[depth]):
            yield route[:depth]


def homes_below(nodes: Sequence[Node], key: str) -> Iterator[Home]:
    """The parts inside of what ``nodes`` speak of that know ``key``, nearest first."""
    seen: set[int] = set()
    left: list[tuple[tuple[str, ...], list[Node]]] = [((), list(nodes))]
    while left:
        way, here = left.pop(0)
        for step in keys(here):
            if len(way) >= 3:
                continue
            inside = kinds_of([*below(here, step), *_config_kinds(way, step, here)])
            inside = [node for node in inside if id(node.schema) not in seen]
            seen.update(id(node.schema) for node in inside)
            for node in inside:
                if key in node.schema.get("properties", {}):
                    yield Home((*way, step), _title(inside))
                    break
            left.append(((*way, step), inside))


def _config_kinds(way: tuple[str, ...], step: str, here: Sequence[Node]) -> list[Node]:
    # Without a template, config may turn out to be any of the five.
    if way or step != "config" or any("x-tools" in node.schema for node in applying(below(here, step), {})):
        return []
    return [Node(name, schema(name)) for name in templates() if name != "sql"]


def kinds_of(nodes: Sequence[Node]) -> list[Node]:
    """``nodes`` with all that they may come to: every branch, whatever the value, and what a list holds."""
    found: list[Node] = []
    left = list(nodes)
    while left:
        node = left.pop(0)
        if any(node.schema is each.schema for each in found):
            continue
        found.append(node)
        left += node.referred()
        for member in node.schema.get("allOf", ()):
            left += node.at(member)
        for word in ("then", "else", "items"):
            left += node.at(node.schema.get(word))
    return found


def _title(nodes: Sequence[Node]) -> str:
    return next((str(node.schema["title"]) for node in nodes if "title" in node.schema), "")


_TYPES: dict[str, type] = {"array": list, "object": dict, "string": str}


def _holds(condition: dict[str, Any], value: Any) -> bool:
    """Whether ``value`` meets the ``if`` of a schema. Our conditions ask for little; KeyError for a word they lack."""
    return all(_HOLD[word](told, value) for word, told in condition.items())


_HOLD: dict[str, Callable[[Any, Any], bool]] = {
    "const": lambda told, value: bool(told == value),
    "type": lambda told, value: isinstance(value, _TYPES[told]),
    "required": lambda told, value: not isinstance(value, dict) or all(key in value for key in told),
    "properties": lambda told, value: (
        not isinstance(value, dict)
        or all(key not in value or _holds(each, value[key]) for key, each in told.items())
    ),
}


__all__ = [
    "Branch",
    "Home",
    "Node",
    "along",
    "applying",
    "below",
    "branches",
    "homes_above",
    "homes_below",
    "keys",
]
