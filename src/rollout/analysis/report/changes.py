"""What a rollout changed: the state before and after, as the list of places that differ."""

from __future__ import annotations

import re
from collections.abc import Mapping
from difflib import unified_diff
from itertools import islice
from typing import Any

from rollout.analysis.report.texts import Texts
from rollout.compile.deltas import Delta, deltas
from rollout.diagnostics._visible import visible

MOST_CHANGES = 200
_PLACE = re.compile(r"@@ -[\d,]+ \+(\d+)")
_LONGEST_COMPARED = 20_000
_MOST_LINES_COMPARED = 800


def changes(before: Mapping[str, Any], after: Mapping[str, Any], texts: Texts) -> dict[str, Any]:
    """``{"list": […], "left": how many more}``; each has ``kind``, ``path``, and ``before``, ``after`` or ``lines``.

    ``lines`` are of a text of several lines that was changed: pairs of a sign (``+``, ``-``, ``@`` or a blank) and the
    line.
    """
    try:
        try:
            return _changes(dict(before), dict(after), texts)
        except UnicodeEncodeError:
            # Halves of characters cannot be compared, but the sentences that name them can.
            return _changes(_without_halves(before), _without_halves(after), texts)
    except RecursionError:
        return {"list": [], "left": 0, "note": "The states are nested too deeply to be compared."}


def _changes(before: dict[str, Any], after: dict[str, Any], texts: Texts) -> dict[str, Any]:
    found = deltas(before, after)
    shown = [_change(delta, texts) for delta in islice(found, MOST_CHANGES)]
    return {"list": shown, "left": sum(1 for _ in found)}


def _without_halves(value: Any) -> Any:
    if isinstance(value, str):
        return "".join(visible(each) if "\ud800" <= each <= "\udfff" else each for each in value)
    if isinstance(value, list):
        return [_without_halves(each) for each in value]
    if isinstance(value, Mapping):
        return {_without_halves(key): _without_halves(each) for key, each in value.items()}
    return value


def _change(delta: Delta, texts: Texts) -> dict[str, Any]:
    told: dict[str, Any] = {"kind": str(delta.kind), "path": texts.line(delta.written)}
    if _is_worth_lines(delta.before, delta.after):
        lines = unified_diff(delta.before.split("\n"), delta.after.split("\n"), lineterm="", n=3)
        # The first two name the sides.
        told["lines"] = [_line(line, texts) for line in islice(lines, 2, None)]
        return told
    if told["kind"] != "added":
        told["before"] = texts.value(delta.before)
    if told["kind"] != "removed":
        told["after"] = texts.value(delta.after)
    return told


def _line(line: str, texts: Texts) -> tuple[str, str]:
    if place := _PLACE.match(line):
        return "@", f"from line {place[1]}"
    # Of control characters, tabs are at home in a text of several lines.
    return line[:1], "\t".join(texts.line(part, 1_000) for part in line[1:].split("\t"))


def _is_worth_lines(before: Any, after: Any) -> bool:
    return (
        isinstance(before, str)
        and isinstance(after, str)
        and ("\n" in before or "\n" in after)
        and max(len(before), len(after)) <= _LONGEST_COMPARED
        and max(before.count("\n"), after.count("\n")) <= _MOST_LINES_COMPARED
    )


__all__ = ["MOST_CHANGES", "changes"]
