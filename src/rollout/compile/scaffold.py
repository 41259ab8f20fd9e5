"""A first environment of a template to start from: small, whole, and with comments that teach the format.

Each scaffold is one annotated file in ``scaffolds/``; from it come the folder and the single file, in YAML and in TOML.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

from rollout.compile.spread import Comments, spread
from rollout.source.contract import templates
from rollout.source.place import Place, Route
from rollout.source.text import SourceFile

_SCAFFOLDS = Path(__file__).parent / "scaffolds"
_COMMENT = re.compile(r"\s*# ?(.*)")


def scaffold(
    template: str, *, slug: str, name: str, toml: bool = False, one_file: bool = False
) -> dict[str, str]:
    """The files of a first environment: relative posix path → text, as :func:`rollout.compile.spread.spread` gives.

    Raises KeyError for an unknown template.
    """
    if template not in templates():
        raise KeyError(template)
    value, comments = _read(template)
    environment = {**value, "slug": slug, "name": name}
    payload = {"environment": environment, "verifier": environment.pop("verifier")}
    remarks = dict(comments)
    if not one_file:
        # tasks.jsonl has no room for comments.
        about_tasks = remarks.pop(("tasks",))
        remarks[()] = _beside(spread(payload, toml=toml), toml, about_tasks)
    return spread(payload, toml=toml, one_file=one_file, comments=remarks)


def _beside(files: Iterable[str], toml: bool, about_tasks: str) -> str:
    """What the environment file says of the others: which of them the agent gets, in the order of their names."""
    suffix = "toml" if toml else "yaml"
    tops = dict.fromkeys(
        f"{first}{'/' if rest else ''}" for first, _, rest in (name.partition("/") for name in sorted(files))
    )
    others = {f"environment.{suffix}", f"verifier.{suffix}", "tasks.jsonl"}
    parts = [name for name in tops if name not in others]
    return (
        f"Who the environment is. The agent gets {' and '.join(parts)}, verifier.{suffix} says how it is judged,\n"
        f"and tasks.jsonl what it is asked, one task a line.\n{about_tasks}"
    )


@cache
def _read(template: str) -> tuple[dict[str, Any], Comments]:
    from rollout.source.yaml import parse

    path = _SCAFFOLDS / f"{template}.yaml"
    source = SourceFile(path, path.name, path.read_text(encoding="utf-8"))
    parsed = parse(source, [])
    assert parsed is not None
    lines = source.text.split("\n")
    comments: dict[Route, str] = {}
    taken: set[int] = set()
    for route, place in _places(parsed.place, ()):
        start = place.key_start if place.key_start >= 0 else place.start
        line = source.position(start)[0] - 1
        # The first key of a list's member stands on the same line as the member, which came before it.
        if line not in taken and (words := list(_above(lines, line))):
            comments[route] = "\n".join(reversed(words))
        taken.add(line)
    return parsed.value, comments


def _places(place: Place, route: Route) -> Iterator[tuple[Route, Place]]:
    children = place.children
    steps = enumerate(children) if isinstance(children, list) else (children or {}).items()
    for step, child in steps:
        yield (*route, step), child
        yield from _places(child, (*route, step))


def _above(lines: list[str], line: int) -> Iterator[str]:
    for above in reversed(lines[:line]):
        if (match := _COMMENT.fullmatch(above)) is None:
            return
        yield match[1]


__all__ = ["scaffold"]
