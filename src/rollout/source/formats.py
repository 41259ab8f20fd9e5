"""Reads one file of data as the format that its suffix names: YAML, TOML, JSON, JSONL or CSV."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

from rollout.source.file import read_source
from rollout.source.place import Parsed, Place, Problem
from rollout.source.text import SourceFile

MAX_BROKEN = 100
"""How many lines of a file may be broken before the rest of it is not read."""

Reader = Callable[[SourceFile, list[Problem]], Parsed | None]
"""Gives the value of a text with its places; None, and a problem, when there is none."""


def read_data(path: Path, label: str, problems: list[Problem]) -> Parsed | None:
    """The value of a file with its places; None, and a problem, when there is none.

    Its suffix is one of ``layout.STRUCTURED`` and ``layout.TABULAR``. Raises ValueError for another.
    """
    source = read_source(path, label, problems)
    if source is None:
        return None
    collecting = gc.isenabled()
    gc.disable()  # Everything built here survives; looking through it again and again doubles the time.
    try:
        return _parse(path, source, problems)
    finally:
        if collecting:
            gc.enable()


def _parse(path: Path, source: SourceFile, problems: list[Problem]) -> Parsed | None:
    parsed = reader(path.suffix)(source, problems)
    if parsed is None or path.suffix.lower() != ".toml":
        return parsed
    if not parsed.value:
        # To TOML that is an object without keys; to people it is a file that was never saved, as in the other formats.
        problems.append(Problem("empty-file", source.span(0, 0)))
        return None
    return unwrap(path.stem, parsed)


def reader(suffix: str) -> Reader:
    """What reads the text of a file with this suffix. Raises ValueError for one that is no format's."""
    # Imported when first needed: a folder that is all TOML does not pay for PyYAML.
    match suffix.lower():
        case ".yaml" | ".yml":
            from rollout.source.yaml import parse
        case ".toml":
            from rollout.source.toml import parse
        case ".json":
            from rollout.source.json import parse
        case ".jsonl":
            return read_lines
        case ".csv":
            from rollout.source.csv import parse
        case _:
            raise ValueError(f"no reader for “{suffix}”")
    return parse


def unwrap(key: str, parsed: Parsed) -> Parsed:
    """The list of a TOML file that is all ``[[key]]``: TOML has no list at its top, and ``tasks.toml`` needs one."""
    value, children = parsed.value, parsed.place.children
    if isinstance(children, dict) and list(value) == [key] and isinstance(value[key], list):
        return Parsed(value[key], children[key])
    return parsed


def read_lines(source: SourceFile, problems: list[Problem]) -> Parsed | None:
    """The JSON values of a JSONL text, one a line, as a list; blank lines count for nothing."""
    from rollout.source.json import parse

    values: list[Any] = []
    places: list[Place] = []
    broken = 0
    for number, line in enumerate(source.text.split("\n"), 1):
        if line.isspace() or not line:
            continue
        written = SourceFile(source.path, source.label, line.removesuffix("\r"), first_line=number)
        parsed = parse(written, problems)
        if parsed is not None:
            values.append(parsed.value)
            places.append(parsed.place)
            continue
        broken += 1
        if broken == MAX_BROKEN:
            problems.append(Problem("too-many-broken-lines", written.span(0, 0), {"broken": broken}))
            break
    return Parsed(values, Place(source, 0, len(source.text), places)) if not broken else None


__all__ = ["MAX_BROKEN", "Reader", "read_data", "read_lines", "reader", "unwrap"]
