"""Finds tasks that ask the same, in a stream too long to be kept.

Two tasks ask the same when instruction and input are equal, by value: ``{"a": 1, "b": 2}`` is ``{"b": 2, "a": 1.0}``.
Of each task read from a line only a hash and its number are kept; when a hash comes again the earlier line is
read once more and compared, so that a collision never makes a finding.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import orjson

from rollout.language.canonical import canonical
from rollout.source.document import Document, TaskRecord

Kept = int | TaskRecord
"""What is remembered of a task: its number where its line can be read again, else the task, which is held anyway."""


class Twin(NamedTuple):
    """An earlier task that asks the same, its split, and whether that is the split of the later one too."""

    record: TaskRecord
    split: str
    same_split: bool


class Twins:
    """The tasks met so far, by what they ask. Every rule that wants to know may ask; the work is done once a task."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._first: dict[int, Kept] = {}
        self._splits: dict[int, dict[str, Kept]] = {}
        self._last = -1
        self._answers: dict[int, Twin] = {}

    def of(self, record: TaskRecord) -> Twin | None:
        """The earlier twin of ``record``: one in its own split or else the first there was; None for a new task.

        Tasks have to be asked for in their order the first time.
        """
        index = record.index
        if index <= self._last:
            return self._answers.get(index)
        self._last = index
        key = question(record.value)
        kept = index if record.line is not None else record
        first = self._first.setdefault(key, kept)
        if first is kept:
            return None
        twin = self._compare(key, first, kept, record)
        if twin is not None:
            self._answers[index] = twin
        return twin

    def _compare(self, key: int, first: Kept, kept: Kept, record: TaskRecord) -> Twin | None:
        origin = recall(self._document, first)
        if origin is None or not asks_the_same(origin.value, record.value):
            return None
        origin_split = split_of(origin)
        splits = self._splits.setdefault(key, {origin_split: first})
        split = split_of(record)
        if split not in splits:
            splits[split] = kept
            return Twin(origin, origin_split, same_split=False)
        twin = origin if split == origin_split else recall(self._document, splits[split])
        return None if twin is None else Twin(twin, split, same_split=True)


def question(value: dict[str, Any]) -> int:
    """A number that is equal for two tasks that ask the same, and almost never for two that do not."""
    given = value.get("input")
    if not given:
        return hash(value["instruction"])
    try:
        # The usual input is flat; its items hash by value, whatever their order, and 1.0 as 1.
        return hash((value["instruction"], frozenset(given.items())))
    except (TypeError, AttributeError):
        return hash((value["instruction"], _written(given)))


_WHOLE = ((b".0,", b","), (b".0}", b"}"), (b".0]", b"]"))


def _written(given: Any) -> bytes:
    try:
        data = orjson.dumps(given, option=orjson.OPT_SORT_KEYS)
    except TypeError:  # an integer past 64 bits, or a lone surrogate
        return b""
    for written, meant in _WHOLE:
        data = data.replace(written, meant)
    return data


def asks_the_same(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether two tasks have the same instruction and the same input; no input and an empty one are the same."""
    if one.get("instruction") != other.get("instruction"):
        return False
    try:
        return canonical(one.get("input") or {}) == canonical(other.get("input") or {})
    except (ValueError, TypeError):
        return False


def split_of(record: TaskRecord) -> str:
    """The split a task belongs to."""
    return str(record.value.get("split", "dev"))


def recall(document: Document, kept: Kept) -> TaskRecord | None:
    """The task that was remembered, read from its line once more; None when it is not there any longer."""
    if isinstance(kept, TaskRecord):
        return kept
    place = document.tasks.place(kept)
    if place is None:
        return None
    try:
        value = json.loads(place.source.text[place.start : place.end])
    except ValueError:
        return None
    return TaskRecord(kept, value) if isinstance(value, dict) else None


__all__ = ["Kept", "Twin", "Twins", "asks_the_same", "question", "recall", "split_of"]
