"""Reads the tasks of a large compiled file without a place for each of their values, until one is asked for.

A place takes several times the room of what it points at. A sound file never needs those of its tasks.
"""

from __future__ import annotations

import re
from json import JSONDecodeError, JSONDecoder
from math import isfinite
from typing import Any, NamedTuple

from rollout.source.json import parse
from rollout.source.place import MAX_DEPTH, Parsed, Place
from rollout.source.tasks import InlineTasks

_BLANK = re.compile(r"[ \t\n\r]*")
_NOT_A_LINE_BREAK = re.compile(r"[^\n]")
_HALF_PAIR = re.compile(r"\\u[dD][89a-fA-F]")


class Split(NamedTuple):
    """A text whose tasks were taken out: the rest, of the same length and lines, and the tasks with their offsets."""

    rest: str
    tasks: list[Any]
    start: int
    end: int


class PackedTasks(InlineTasks):
    """Tasks whose places are read again from the text when the first of them is asked for."""

    def __init__(self, tasks: list[Any], home: Place, route: tuple[str, ...]) -> None:
        super().__init__(Parsed(tasks, home))
        self._route = route
        self._places: Place | None = None

    def place(self, index: int) -> Place | None:
        """Where task ``index`` stands."""
        if self._places is None:
            parsed = parse(self._place.source, [])
            assert parsed is not None
            self._places, taken = parsed.place.nearest(self._route)
            assert taken == len(self._route)
        return self._places.child(index)


def split_tasks(text: str) -> Split | None:
    """``text`` without its tasks; None where it is not sound JSON of the shape that ``rollout compile`` writes.

    None as well for what only the careful reader tells of, such as a key that is given twice or a lone surrogate.
    """
    if _HALF_PAIR.search(text):
        return None
    try:
        found = _find(text, _start_of_object(text, 0), ("environment", "tasks"))
    except (JSONDecodeError, ValueError, RecursionError):
        return None
    if found is None or not isinstance(found[0], list) or not all(_is_shallow(task, 4) for task in found[0]):
        return None
    tasks, start, end = found
    blank = _NOT_A_LINE_BREAK.sub(" ", text[start + 1 : end - 1])
    return Split(f"{text[: start + 1]}{blank}{text[end - 1 :]}", tasks, start, end)


def _find(text: str, at: int, route: tuple[str, ...]) -> tuple[Any, int, int] | None:
    """The value at ``route`` in the object that begins before ``at``, with where it begins and ends."""
    while not text.startswith("}", at):
        key, at = _DECODER.raw_decode(text, at)
        at = _skip(text, at)
        if not isinstance(key, str) or not text.startswith(":", at):
            return None
        start = _skip(text, at + 1)
        if key == route[0] and len(route) > 1:
            return _find(text, _start_of_object(text, start), route[1:])
        value, at = _DECODER.raw_decode(text, start)
        if key == route[0]:
            return value, start, at
        at = _skip(text, at)
        if text.startswith(",", at):
            at = _skip(text, at + 1)
    return None


def _start_of_object(text: str, at: int) -> int:
    at = _skip(text, at)
    if not text.startswith("{", at):
        raise ValueError("no object")
    return _skip(text, at + 1)


def _skip(text: str, at: int) -> int:
    match = _BLANK.match(text, at)
    assert match is not None
    return match.end()


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        raise ValueError("a key twice")
    return made


def _float(written: str) -> float:
    number = float(written)
    if not isfinite(number):
        raise ValueError("not finite")
    return number


def _constant(written: str) -> Any:
    raise ValueError(written)


def _is_shallow(value: Any, depth: int) -> bool:
    if isinstance(value, dict):
        return depth <= MAX_DEPTH and all(_is_shallow(each, depth + 1) for each in value.values())
    if isinstance(value, list):
        return depth <= MAX_DEPTH and all(_is_shallow(each, depth + 1) for each in value)
    return True


_DECODER = JSONDecoder(object_pairs_hook=_object, parse_float=_float, parse_constant=_constant)

__all__ = ["PackedTasks", "Split", "split_tasks"]
