"""An environment as it was read: its values, where each stands, its tasks, and what was wrong on the way."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from rollout.diagnostics import Span
from rollout.source.place import At, Place, Problem, Route
from rollout.source.text import SourceFile


class TaskRecord:
    """One task as written: ``value`` has the author's keys; ``line`` is its JSONL line where it came from one."""

    __slots__ = ("index", "line", "value")

    def __init__(self, index: int, value: dict[str, Any], line: bytes | None = None) -> None:
        self.index = index
        self.value = value
        self.line = line

    @property
    def ground_truth(self) -> Any:
        """What the task must come to; ``{}`` where it says nothing."""
        value = self.value
        return (
            value["hidden_ground_truth"]
            if "hidden_ground_truth" in value
            else value.get("hiddenGroundTruth", {})
        )

    @property
    def truth_key(self) -> str:
        """The key that the ground truth stands under: ``hidden_ground_truth`` or ``hiddenGroundTruth``."""
        value = self.value
        spelled_otherwise = "hiddenGroundTruth" in value and "hidden_ground_truth" not in value
        return "hiddenGroundTruth" if spelled_otherwise else "hidden_ground_truth"


@dataclass(frozen=True, slots=True)
class TaskBlock:
    """Tasks that were read together; ``data`` is the stretch of the file they came from, where they have lines."""

    records: list[TaskRecord]
    data: bytes | None


class Tasks(Protocol):
    """The tasks of an environment, however many files or lines they are spread over."""

    def read(self, problems: list[Problem]) -> Iterator[TaskRecord]:
        """Reads all tasks once, in order. A line that is no JSON object goes to ``problems`` and is left out.

        Indexes count every row, the broken ones too, so a route ``("tasks", index)`` always leads home.
        """

    def blocks(self, problems: list[Problem]) -> Iterator[TaskBlock]:
        """The same, in blocks, for those who can look at many tasks at once."""

    def place(self, index: int) -> Place | None:
        """Where task ``index`` stands, read again from its file; None when there is no such task."""

    @property
    def home(self) -> Place:
        """Where the tasks as a whole stand: their key, or the first line of their first file."""


@dataclass(frozen=True, slots=True)
class Document:
    """What a folder, a file or a Python object says, before anything is believed of it.

    ``value`` holds the payload's top-level keys as written, put together from all files, without ``tasks``;
    ``place`` runs beside it. ``root`` is the environment's folder and ``label`` what a person is shown for it.
    ``readable`` is False when some file could not be read or parsed, so that part of the value is missing;
    ``unread`` names the top-level keys that may be missing for that reason. ``stem`` is what the slug is when it
    is not given: the folder's name, or the file's without its suffix. ``again`` reads it anew, where tasks are streamed
    from files that may have changed since.
    """

    root: Path
    label: str
    value: dict[str, Any]
    place: Place
    tasks: Tasks
    sources: tuple[SourceFile, ...] = ()
    problems: tuple[Problem, ...] = ()
    readable: bool = True
    unread: frozenset[str] = frozenset()
    stem: str = ""
    again: Callable[[], Document] | None = None

    @property
    def slug(self) -> str:
        """The slug as written; without one, the name of the folder or file."""
        given = self.value.get("slug")
        return given if isinstance(given, str) and given else self.stem or self.root.resolve().name

    @property
    def name(self) -> str:
        """The name as written; without one, the slug in title case (``refund-agent`` is “Refund Agent”)."""
        given = self.value.get("name")
        if isinstance(given, str) and given:
            return given
        words = re.split(r"[-_.\s]+", self.slug)
        return " ".join(word[0].upper() + word[1:] for word in words if word) or self.slug

    def span(self, route: Route, at: At = "value") -> Span:
        """The span of what stands at ``route``; where that is missing, the span of the nearest thing above it."""
        if route == ("tasks",):
            return self.tasks.home.span(at)
        place, is_there = self._nearest(route)
        return place.span(at if is_there else "key")

    def place_of(self, route: Route) -> Place | None:
        """Where the value at ``route`` stands; None where that is missing."""
        place, is_there = self._nearest(route)
        return place if is_there else None

    def _nearest(self, route: Route) -> tuple[Place, bool]:
        root = self.place
        if len(route) > 1 and route[0] == "tasks":
            root, route = self.tasks.place(int(route[1])) or self.tasks.home, route[2:]
        place, taken = root.nearest(route)
        return place, taken == len(route)


__all__ = ["Document", "TaskRecord", "Tasks"]
