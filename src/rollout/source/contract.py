"""The JSON Schemas that are the format's contract, as shipped in the wheel or as they lie in a checkout."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

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
    """One schema as parsed JSON; shared, so not to be changed. Raises KeyError for an unknown name."""
    parsed: dict[str, Any] = json.loads(schema_text(name))
    return parsed


@cache
def templates() -> tuple[str, ...]:
    """The names of the templates: the values that ``environment.schema.json`` lists for ``template``."""
    return tuple(schema("environment")["properties"]["template"]["enum"])


__all__ = ["schema", "schema_folder", "schema_names", "schema_text", "templates"]
