"""Finds tasks that ask the same, in a stream too long to be kept.

Two tasks ask the same when instruction and input are equal, by value: ``{"a": 1, "b": 2}`` is ``{"b": 2, "a": 1.0}``.
Of each task read from a line only a hash and its number are kept; when a hash comes again the earlier line is
read once more and compared, so that a collision never makes a finding.
"""

from __future__ import annotations

import json
from typing import Any

import orjson

from rollout.language.canonical import canonical
from rollout.source.document import Document, TaskRecord

_WHOLE = ((b".0,", b","), (b".0}", b"}"), (b".0]", b"]"))


class Seen:
    """The tasks met so far, by a number that stands for what they ask."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._first: dict[int, int | TaskRecord] = {}

    def earlier(self, key: int, record: TaskRecord) -> TaskRecord | None:
        """The first task that came with ``key``, read again; None when ``record`` is the first, or stays so."""
        kept = record.index if record.line is not None else record
        first = self._first.setdefault(key, kept)
        if first is kept:
            return None
        return first if isinstance(first, TaskRecord) else read_again(self._document, first)


def question(value: dict[str, Any]) -> int:
    """A number that is equal for two tasks that ask the same, and almost never for two that do not."""
    given = value.get("input")
    if not given:
        return hash(value["instruction"])
    try:
        data = orjson.dumps(given, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # an integer past 64 bits, or a lone surrogate
        data = repr(given).encode("utf-8", "surrogatepass")
    if b".0" in data:
        for written, meant in _WHOLE:
            data = data.replace(written, meant)
    return hash((value["instruction"], data))


def asks_the_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two tasks have the same instruction and the same input; no input and an empty one are the same."""
    if one.get("instruction") != other.get("instruction"):
        return False
    try:
        return canonical(one.get("input") or {}) == canonical(other.get("input") or {})
    except ValueError:
        return False


def read_again(document: Document, index: int) -> TaskRecord | None:
    """Task ``index``, read from its line once more; None when it is not there, or no longer a task."""
    place = document.tasks.place(index)
    if place is None:
        return None
    try:
        value = json.loads(place.source.text[place.start : place.end])
    except ValueError:
        return None
    return TaskRecord(index, value) if isinstance(value, dict) else None


__all__ = ["Seen", "asks_the_same", "question", "read_again"]
