"""The JSON Schemas that are the format's contract, as shipped in the wheel or as they lie in a checkout."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from rollout.family import member, members

VERIFIERS = "rollout.verifiers"

_PACKAGE = Path(__file__).parent.parent
_FOLDERS = (_PACKAGE / "schemas", _PACKAGE.parent.parent / "schemas")


@cache
def schema_folder() -> Path:
    """Where the schema files are: inside the installed package, or at the root of a checkout."""
    return next(folder for folder in _FOLDERS if (folder / "environment.schema.json").is_file())


@cache
def schema_names() -> tuple[str, ...]:
    """The names that ``rollout schema`` takes, sorted: ``browser``, ``code-editing``, ``custom``, …"""
    return tuple(
        sorted(path.name.removesuffix(".schema.json") for path in schema_folder().glob("*.schema.json"))
    )


@cache
def schema_text(name: str) -> str:
    """The text of one schema file. Raises KeyError for a name that :func:`schema_names` does not list."""
    if name not in schema_names():
        raise KeyError(name)
    return (schema_folder() / f"{name}.schema.json").read_text(encoding="utf-8")


@cache
def schema(name: str) -> dict[str, Any]:
    """One schema as parsed JSON; shared, so not to be changed. Raises KeyError for an unknown name.

    The verifier's also knows the primitives that installed packages bring.
    """
    parsed: dict[str, Any] = json.loads(schema_text(name))
    if name == "verifier":
        definitions = parsed["$defs"]
        for brought in members(VERIFIERS):
            if brought not in definitions:
                definitions[brought] = _brought_primitive(brought)
        primitive = definitions["primitive"]
        primitive["properties"]["type"]["enum"] = list(primitives(parsed))
        primitive["allOf"] = [branch(each) for each in primitives(parsed)]
    return parsed


def bundled(name: str) -> dict[str, Any]:
    """One schema with every other that it refers to under its ``$defs``, so that a validator needs no other file.

    Each keeps its ``$id``, by which the references find it, as JSON Schema 2020-12 has it for compound documents
    (section 9.3). Raises KeyError for an unknown name.
    """
    whole = schema(name)
    wanted = sorted(_referred(name) - {name})
    if not wanted:
        return whole
    embedded = {schema(each)["$id"]: schema(each) for each in wanted}
    return {**whole, "$defs": {**whole.get("$defs", {}), **embedded}}


def _referred(name: str) -> set[str]:
    """The names of the schemas that this one refers to, directly or through another."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for reference in _references(schema(waiting.pop())):
            other = reference.partition("#")[0].removesuffix(".schema.json")
            if other and other not in found:
                found.add(other)
                waiting.append(other)
    return found


def _references(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(reference := part.get("$ref"), str):
            yield reference
        part = list(part.values())
    for each in part if isinstance(part, list) else ():
        yield from _references(each)


def primitives(verifier: dict[str, Any]) -> tuple[str, ...]:
    """The types of primitive that a verifier's schema defines: its ``$defs`` that are closed and have a ``type``."""
    return tuple(
        name
        for name, told in verifier["$defs"].items()
        if told.get("additionalProperties") is False and "type" in told["properties"]
    )


def branch(primitive: str) -> dict[str, Any]:
    """The part of the verifier's schema that sends a primitive of this type on to its definition."""
    return {
        "if": {"properties": {"type": {"const": primitive}}, "required": ["type"]},
        "then": {"$ref": f"#/$defs/{primitive}"},
    }


def _brought_primitive(name: str) -> dict[str, Any]:
    """The definition of a primitive that the shipped schema does not have, from ``OPTIONS`` of its module.

    ``OPTIONS`` is a schema fragment with ``properties``, and ``required`` where some have to be there. A module
    without it, or one that cannot be loaded, takes no options: what nobody describes is refused.
    """
    try:
        options: Any = getattr(member(VERIFIERS, name), "OPTIONS", {})
    except Exception:
        options = {}
    common = dict.fromkeys(("name", "type", "description", "weight", "not"), True)
    return {
        "title": name,
        "description": f"The primitive {name} of an installed package.",
        **options,
        "properties": {**options.get("properties", {}), **common},
        "patternProperties": {"^x-": True},
        "additionalProperties": False,
    }


@cache
def templates() -> tuple[str, ...]:
    """The names of the templates: the values that ``environment.schema.json`` lists for ``template``."""
    return tuple(schema("environment")["properties"]["template"]["enum"])


@cache
def stateful_templates() -> frozenset[str]:
    """The templates whose state (``x-state``) is changed by the tools that the config declares, and only by them."""
    return frozenset(
        name for name in templates() if "x-state" in schema(name) and "tools" in schema(name)["properties"]
    )


@cache
def sandboxed_templates() -> frozenset[str]:
    """The templates whose worlds run commands in a sandbox (``x-sandbox``)."""
    return frozenset(name for name in templates() if schema(name).get("x-sandbox"))


__all__ = [
    "branch",
    "bundled",
    "primitives",
    "sandboxed_templates",
    "schema",
    "schema_folder",
    "schema_names",
    "schema_text",
    "stateful_templates",
    "templates",
]
