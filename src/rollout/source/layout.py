"""What the folder of an environment may hold: which file or folder is read for which key, as the schemas say."""

from __future__ import annotations

from functools import cache

from rollout.source.contract import schema, schema_names, templates

STRUCTURED = ("yaml", "yml", "toml", "json")
"""Suffixes of the files that hold one value, most usual first."""
TABULAR = ("jsonl", "csv")
"""Suffixes of the files that hold a list: one member a line, or a row a line."""

ENVIRONMENT_FILES = tuple(f"environment.{suffix}" for suffix in STRUCTURED)
"""The names under which a folder's environment file is looked for, in this order."""


@cache
def siblings() -> dict[str, tuple[str, ...]]:
    """The top-level keys with the names of the files that each may live in; most have none (``x-sibling``)."""
    found: dict[str, tuple[str, ...]] = {}
    for key, property_ in schema("environment")["properties"].items():
        suffixes = property_.get("x-sibling", ())
        names = [f"{key}.{suffix}" for suffix in suffixes]
        found[key] = (*names, f"{key}.yml") if "yaml" in suffixes else tuple(names)
    return found


@cache
def spreads(template: str | None) -> dict[str, str]:
    """The config keys that may be spread over a folder, with their kind (``x-spread``); of all templates for None."""
    found: dict[str, str] = {}
    for name in templates() if template is None else (template,):
        if name in schema_names():
            for key, property_ in schema(name).get("properties", {}).items():
                if "x-spread" in property_:
                    found[key] = property_["x-spread"]["kind"]
    return found


@cache
def known_names(template: str | None) -> tuple[str, ...]:
    """The names that files and folders of an environment may have."""
    names = [*ENVIRONMENT_FILES, *(name for group in siblings().values() for name in group), "tasks"]
    for key in spreads(template):
        names += [key, *(f"{key}.{suffix}" for suffix in STRUCTURED)]
    return tuple(names)


__all__ = ["ENVIRONMENT_FILES", "STRUCTURED", "TABULAR", "known_names", "siblings", "spreads"]
