"""Changes what YAML text says, where it says it: what stays the same keeps its comments, its quotes and its order."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Any, NamedTuple

from rollout.compile.yaml_text import flow_yaml, write_yaml
from rollout.source.place import Place

_LONGEST_LINE = 100
_DASH = re.compile(r"-[ ]+\Z")


class Edit(NamedTuple):
    """A stretch of text and what stands there instead."""

    start: int
    end: int
    text: str


def patch(text: str, place: Place, before: Any, after: Any) -> str:
    """``text``, which says ``before`` at ``place``, so that it says ``after``.

    Not every way of writing YAML can be changed so. Whoever asks reads the text again, and holds it against ``after``.
    """
    edits = sorted(_edits(text, place, before, after))
    pieces, at = [], 0
    for edit in edits:
        if edit.start < at:
            return text
        pieces += [text[at : edit.start], edit.text]
        at = edit.end
    return "".join([*pieces, text[at:]])


def exact(value: Any) -> str:
    """A text that tells apart whatever differs in JSON: 1 from 1.0 and from true."""
    return json.dumps(value, sort_keys=True)


def _edits(text: str, place: Place, before: Any, after: Any) -> Iterator[Edit]:
    if exact(before) == exact(after):
        return
    if place.children and after and not _is_flow(text, place):
        if isinstance(before, dict) and isinstance(after, dict) and isinstance(place.children, dict):
            yield from _in_mapping(text, place.children, before, after)
            return
        if isinstance(before, list) and isinstance(after, list) and isinstance(place.children, list):
            yield from _in_sequence(text, place.children, before, after)
            return
    children = place.children
    same_keys = isinstance(before, dict) and isinstance(after, dict) and before.keys() == after.keys()
    if same_keys and isinstance(children, dict) and before.keys() == children.keys():
        for key, child in children.items():
            yield from _edits(text, child, before[key], after[key])
        return
    yield from _replaced(text, place, after)


def _in_mapping(text: str, children: dict[str, Place], before: Any, after: Any) -> Iterator[Edit]:
    for key, child in children.items():
        if key not in after:
            yield _without(text, child.key_start, child.end)
        elif key in before:
            yield from _edits(text, child, before[key], after[key])
    new = {key: value for key, value in after.items() if key not in before}
    if new:
        first = min(child.key_start for child in children.values())
        yield _behind(
            text, max(child.end for child in children.values()), _column(text, first), write_yaml(new)
        )


def _in_sequence(text: str, children: list[Place], before: Any, after: Any) -> Iterator[Edit]:
    matcher = SequenceMatcher(None, [exact(each) for each in before], [exact(each) for each in after], False)
    for what, low, high, new_low, new_high in matcher.get_opcodes():
        both = min(high - low, new_high - new_low) if what == "replace" else 0
        for step in range(both):
            child = children[low + step]
            yield from _edits(text, child, before[low + step], after[new_low + step])
        for child in children[low + both : high] if what != "equal" else ():
            yield _without(text, _dash(text, child), child.end)
        if what != "equal" and new_low + both < new_high:
            fresh = write_yaml(after[new_low + both : new_high])
            column = _column(text, _dash(text, children[0]))
            if low + both == 0:
                start = _dash(text, children[0])
                margin = " " * column
                lines = "".join(f"{margin}{line}\n" if line else "\n" for line in fresh.splitlines())
                yield Edit(start - column, start - column, lines)
            else:
                yield _behind(text, children[low + both - 1].end, column, fresh)


def _replaced(text: str, place: Place, after: Any) -> Iterator[Edit]:
    old, flow = text[place.start : place.end], flow_yaml(after)
    if _is_flow(text, place) or ("\n" not in old and "\n" not in flow and len(flow) < _LONGEST_LINE):
        yield Edit(place.start, place.end, flow if place.start == place.end or old else f" {flow}")
        return
    keyed = place.key_start >= 0
    start = place.key_start if keyed else _dash(text, place)
    column = _column(text, start)
    key = text[place.key_start : place.key_end]
    entry = write_yaml({_WORD: after} if keyed else [after])
    if keyed:
        entry = entry.replace(_WORD, key, 1)
    lines = _indented(entry, " " * column).lstrip(" ")
    yield Edit(start, place.end, lines if old.endswith("\n") else lines.removesuffix("\n"))


_WORD = "key"


def _without(text: str, start: int, end: int) -> Edit:
    """Takes away whole lines where the entry has them for itself, else what is behind a dash."""
    begin = start - _column(text, start)
    if text[begin:start].strip():
        begin = start
    return Edit(begin, _end_of_line(text, end), "")


def _behind(text: str, end: int, column: int, entry: str) -> Edit:
    at = _end_of_line(text, end)
    opening = "" if at == 0 or text[at - 1] == "\n" else "\n"
    return Edit(at, at, opening + _indented(entry, " " * column))


def _indented(text: str, margin: str) -> str:
    return "".join(f"{margin}{line}\n" if line else "\n" for line in text.removesuffix("\n").split("\n"))


def _dash(text: str, place: Place) -> int:
    """Where the dash of a member of a list in a block stands."""
    line = text[text.rfind("\n", 0, place.start) + 1 : place.start]
    found = _DASH.search(line)
    return place.start - (len(line) - found.start()) if found else place.start


def _is_flow(text: str, place: Place) -> bool:
    return text[place.start : place.start + 1] in ("{", "[")


def _column(text: str, at: int) -> int:
    return at - (text.rfind("\n", 0, at) + 1)


def _end_of_line(text: str, at: int) -> int:
    if at and text[at - 1] == "\n":
        return at
    end = text.find("\n", at)
    return len(text) if end < 0 else end + 1


__all__ = ["exact", "patch"]
