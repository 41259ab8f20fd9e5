"""Writes a task's solution into YAML text as a person would, and touches nothing else: no comment, quote or order."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rollout.compile.json_edit import KEY
from rollout.compile.yaml_text import flow_yaml, write_yaml
from rollout.source.place import Place

_PROPERTIES = re.compile(r"(?:[&!]\S*\s+)*")


def texts(text: str, task: Place, solution: list[dict[str, Any]]) -> Iterator[str]:
    """``text`` with the solution of the task at ``task``, in several ways, the one that reads best first.

    Not every way holds everywhere: behind the text of a block that ends the file there is no room, and a comment
    may come to stand in a text. Whoever asks reads each again, and takes the first that says the right thing.
    """
    members = task.children
    if not isinstance(members, dict) or not members:
        return
    opens = _PROPERTIES.match(text, task.start)
    at = opens.end() if opens else task.start
    if text.startswith("*", at):
        return  # The task is written elsewhere, and may be meant to stay as it is there.
    if text.startswith("{", at):
        yield from _in_flow(text, members, solution)
    else:
        yield from _in_block(text, task, members, solution)


def _in_flow(text: str, members: dict[str, Place], solution: list[dict[str, Any]]) -> Iterator[str]:
    written = flow_yaml(solution)
    there = members.get(KEY)
    if there is not None:
        yield text[: there.start] + written + text[there.end :]
        return
    last = max(members.values(), key=lambda member: member.key_start)
    key = f'"{KEY}"' if text.startswith('"', last.key_start) else KEY
    yield f"{text[: last.end]}, {key}: {written}{text[last.end :]}"


def _in_block(
    text: str, task: Place, members: dict[str, Place], solution: list[dict[str, Any]]
) -> Iterator[str]:
    line_break = "\r\n" if "\r\n" in text else "\n"
    column = _column(text, min(member.key_start for member in members.values()))
    margin = " " * column
    ways = [
        line_break.join(_indented(entry, margin))
        for entry in (write_yaml({KEY: solution}), f"{KEY}: {flow_yaml(solution)}\n")
    ]
    there = members.get(KEY)
    if there is not None:
        for way in ways:
            end = there.end
            # A text in a block ends with its line break, which what follows needs too.
            tail = line_break if text[end - 1] == "\n" else ""
            yield text[: there.key_start] + way.removeprefix(margin) + tail + text[end:]
        return
    end = _end_of_line(text, task.end)
    opening = "" if text[end - 1] == "\n" else line_break
    closing = "" if opening else line_break
    for way in ways:
        yield text[:end] + opening + way + closing + text[end:]
    last = max(member.key_start for member in members.values())
    start = last - _column(text, last)
    if text[start:last].isspace():
        for way in ways:
            yield text[:start] + way + line_break + text[start:]


def _indented(text: str, margin: str) -> Iterator[str]:
    for line in text.removesuffix("\n").split("\n"):
        yield margin + line if line else ""


def _column(text: str, at: int) -> int:
    return at - (text.rfind("\n", 0, at) + 1)


def _end_of_line(text: str, at: int) -> int:
    """Where a line can be put in behind what ends at ``at``: the start of the next line, or the end of the text."""
    if text[at - 1] == "\n":
        return at
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


__all__ = ["texts"]
