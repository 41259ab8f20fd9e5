"""Writes a task's solution into TOML text, as a key of its table or as tables of its own, and touches nothing else."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rollout.compile.json_edit import KEY
from rollout.compile.toml_text import assign_toml, inline_toml
from rollout.source.place import Place


def texts(text: str, task: Place, solution: list[dict[str, Any]]) -> Iterator[str]:
    """``text`` with the solution of the task at ``task``. Raises ValueError for what TOML cannot say, such as null."""
    members = task.children
    if not isinstance(members, dict) or not members:
        return
    line_break = "\r\n" if "\r\n" in text else "\n"
    there = members.get(KEY)
    if there is not None and _has_header(text, there):
        yield from _in_tables(text, there, solution, line_break)
    elif there is not None:
        value = assign_toml(KEY, solution).partition(" = ")[2]
        if not _has_header(text, task):
            value = inline_toml(solution)
        yield text[: there.start] + value.replace("\n", line_break) + text[there.end :]
    elif _has_header(text, task):
        end = _end_of_line(text, _end_of_own(text, task))
        entry = assign_toml(KEY, solution).replace("\n", line_break)
        opening, closing = ("", line_break) if text[end - 1] == "\n" else (line_break, "")
        yield text[:end] + opening + entry + closing + text[end:]
    else:
        end = max(_end_of_own(text, member) for member in members.values())
        yield f"{text[:end]}, {KEY} = {inline_toml(solution)}{text[end:]}"


def _in_tables(text: str, there: Place, solution: list[dict[str, Any]], line_break: str) -> Iterator[str]:
    """A list that has a header for each of its steps, one behind the other."""
    steps = there.children
    if not isinstance(steps, list) or not steps:
        return
    header = text[steps[0].start : steps[0].end]
    start = text.rfind("\n", 0, steps[0].start) + 1
    end = _end_of_line(text, max(_end_of_all(step) for step in steps))
    lines: list[str] = []
    for step in solution:
        lines += ["", header, *(assign_toml(key, value) for key, value in step.items())]
    written = "\n".join(lines[1:]).replace("\n", line_break)
    yield text[:start] + written + (line_break if text[end - 1] == "\n" else "") + text[end:]


def _has_header(text: str, place: Place) -> bool:
    """Whether a table (or a list of tables) is written under a header, not as a value on its key's line."""
    at = place.start
    return text.startswith("[", at) and not text[text.rfind("\n", 0, at) + 1 : at].strip()


def _end_of_own(text: str, place: Place) -> int:
    """Where what stands under no further header ends."""
    ends = [place.end]
    for member in _members(place):
        if not _has_header(text, member):
            ends.append(_end_of_own(text, member))
    return max(ends)


def _end_of_all(place: Place) -> int:
    return max([place.end, *map(_end_of_all, _members(place))])


def _members(place: Place) -> list[Place]:
    children = place.children
    return list(children.values()) if isinstance(children, dict) else children or []


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


__all__ = ["texts"]
