"""Turns the description of an ``Environment`` that a Python file made into a document: values with their places."""

from __future__ import annotations

import ast
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rollout.source.contract import templates
from rollout.source.document import Document, Tasks
from rollout.source.place import Parsed, Place, Problem, Route
from rollout.source.python_places import PlaceFinder
from rollout.source.tasks import InlineTasks, JsonlTasks


class DocumentMaker:
    """Turns one environment of the report of ``python_child.py`` into a document."""

    def __init__(self, path: Path, label: str, finder: PlaceFinder, described: dict[str, Any]) -> None:
        self.path = path
        self.label = label
        self.finder = finder
        self.described = described
        self.names = set(described["names"])

    def document(self, *, alone: bool) -> Document:
        """The environment as a document. Where it is not ``alone`` in its file, its slug is in its label."""
        from rollout.source.folder import leaving_paths

        value: dict[str, Any] = self.described["value"]
        found = [(slug, tuple(route), facts) for slug, route, facts in self.described["problems"]]
        for _, route, _ in found:
            if len(route) == 1 and value.get(str(route[0])) is None:
                value.pop(str(route[0]), None)  # It is not empty: what it holds could not be read.
        place = self.place(value)
        later = self.finder.later(self.names)
        for key, written in later.items():
            if key in value:
                assert isinstance(place.children, dict)
                place.children[key] = self.finder.place(written, value[key])
        tasks = self.tasks(place, later.get("tasks"))
        problems = [self.problem(place, tasks, *each) for each in found]
        named = value.get("template")
        template = named if isinstance(named, str) and named in templates() else None
        problems += leaving_paths(value, place, template)
        return Document(
            root=self.path.parent,
            label=self.label if alone else f"{self.label} ({value.get('slug')})",
            value=value,
            place=place,
            tasks=tasks,
            sources=(self.finder.source,),
            problems=tuple(problems),
            unread=frozenset(str(route[0]) for _, route, _ in found),
            stem=self.path.stem,
        )

    def tasks(self, place: Place, later: ast.expr | None) -> InlineTasks:
        values = self.described["tasks"]
        written = later or self.argument("tasks")
        if "made" not in self.described:
            home = (
                Place(place.source, place.start, place.end)
                if written is None
                else self.finder.place(written, values)
            )
            return InlineTasks(Parsed(values, home))
        calls = [self.call(position) for position in self.described["made"]]
        return _MadeTasks(values, place, written, calls, self.described["read"], self.finder)

    def problem(self, place: Place, tasks: Tasks, slug: str, route: Route, facts: dict[str, Any]) -> Problem:
        root, rest = place, route
        if route[0] == "tasks":
            root, rest = tasks.home, route[1:]
            if rest and isinstance(rest[0], int):
                root, rest = tasks.place(rest[0]) or root, rest[1:]
        nearest, _ = root.nearest(rest)
        return Problem(slug, nearest.span(), {**facts, "route": route})

    # Places

    def place(self, value: dict[str, Any]) -> Place:
        call = self.call(self.described["position"])
        if call is not None:
            place = self.finder.place(call, value)
        else:
            written = next((node for name in self.names if (node := self.finder.assignment(name))), None)
            place = self.finder.place(written, value) if written is not None else self.finder.whole()
        if not isinstance(place.children, dict):
            place.children = {}
        place.children.pop("tasks", None)
        return place

    def argument(self, name: str) -> ast.expr | None:
        call = self.call(self.described["position"])
        if call is None:
            return None
        by_position = call.args[3] if len(call.args) > 3 else None
        return next((keyword.value for keyword in call.keywords if keyword.arg == name), by_position)

    def call(self, position: Sequence[int] | None) -> ast.Call | None:
        """The call in this file that made what was noted to be made at ``position``."""
        return None if position is None else self.finder.call_at(tuple(position))  # type: ignore[arg-type]


class _MadeTasks(InlineTasks):
    """The tasks of an environment; the place of one is worked out when it is asked for, as there may be many."""

    def __init__(
        self,
        values: list[Any],
        environment: Place,
        written: ast.expr | None,
        calls: Sequence[ast.Call | None],
        read: Sequence[tuple[str | None, int | None]],
        finder: PlaceFinder,
    ) -> None:
        home = Place(environment.source, environment.start, environment.end)
        if written is not None:
            home = finder.place(written, None)
        super().__init__(Parsed(values, home))
        self._written = written
        self._calls = calls
        self._read = read
        self._finder = finder
        self._files: dict[str, JsonlTasks] = {}

    def place(self, index: int) -> Place | None:
        """Where task ``index`` was made: its line of JSONL or its own call, else what the list shows, else the list."""
        if not 0 <= index < len(self._calls):
            return None
        if (place := self._line(index)) is not None:
            return place
        call = self._calls[index]
        if call is not None:
            return self._finder.place(call, self._value[index])
        if self._written is not None:
            listed = self._finder.place(self._written, self._value)
            if (place := listed.child(index)) is not None:
                return place
        return self._place

    def _line(self, index: int) -> Place | None:
        """The line that the task was read from, as long as it says what the task says now."""
        name, row = self._read[index]
        if name is None or row is None:
            return None
        tasks = self._files.get(name)
        if tasks is None:
            from rollout.source.reading import label_of

            tasks = self._files[name] = JsonlTasks([(Path(name), label_of(Path(name)))])
        place = tasks.place(row)
        if place is None:
            return None
        try:
            written = json.loads(place.source.text)
        except (ValueError, RecursionError):
            return None
        return place if _is_same(written, self._value[index]) else None


def _is_same(written: Any, value: Any) -> bool:
    """Whether a line of JSONL says the task ``value``: keys of the format, and no truth is an empty truth."""
    if not isinstance(written, dict) or not isinstance(value, dict):
        return False
    said = {key: member for key, member in written.items() if not key.startswith("x-") and member is not None}
    if "hiddenGroundTruth" in said:
        said.setdefault("hidden_ground_truth", said.pop("hiddenGroundTruth"))
    if said.get("hidden_ground_truth") == {}:
        del said["hidden_ground_truth"]
    return {"split": "dev", **said} == value


__all__ = ["DocumentMaker"]
