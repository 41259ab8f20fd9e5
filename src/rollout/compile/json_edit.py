"""Writes a task's solution into JSON text, in the manner of what stands around it, and touches nothing else."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from rollout.source.place import Place

KEY = "solution"

# Other readers of lines, and terminals, take some of these for more than text.
_ESCAPED = re.compile("[\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069\ufeff]")


def texts(text: str, task: Place, solution: list[dict[str, Any]]) -> Iterator[str]:
    """``text`` with the solution of the task at ``task``, a JSON object in it."""
    members = task.children
    if not isinstance(members, dict) or not members:
        return
    first = next(iter(members.values()))
    written = _written(text, task, first, solution)
    there = members.get(KEY)
    if there is not None:
        yield text[: there.start] + written + text[there.end :]
        return
    last = max(member.end for member in members.values())
    before_key = text[task.start + 1 : first.key_start]
    between = before_key if "\n" in before_key else " " if " " in text[first.key_end : first.start] else ""
    colon = text[first.key_end : first.start]
    yield f'{text[:last]},{between}"{KEY}"{colon}{written}{text[last:]}'


def _written(text: str, task: Place, first: Place, solution: list[dict[str, Any]]) -> str:
    before_key = text[task.start + 1 : first.key_start]
    if "\n" not in before_key or not solution:
        spaced = " " in text[first.key_end : first.start]
        return dump_json(solution, spaced=spaced)
    # A step a line, indented as the object's own keys are.
    line_break = "\r\n" if "\r\n" in before_key else "\n"
    margin = before_key.rpartition("\n")[2]
    closing = text[: task.end - 1].rpartition("\n")[2]
    step = margin.removeprefix(closing) if closing.isspace() or not closing else "  "
    lines = f",{line_break}{margin}{step or '  '}".join(dump_json(each, spaced=True) for each in solution)
    return f"[{line_break}{margin}{step or '  '}{lines}{line_break}{margin}]"


def dump_json(value: Any, *, spaced: bool) -> str:
    """JSON on one line; what is no plain text to some readers is escaped."""
    separators = (", ", ": ") if spaced else (",", ":")
    dumped = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=separators)
    return _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", dumped)


__all__ = ["KEY", "dump_json", "texts"]
