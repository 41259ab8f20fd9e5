"""Turns an ``Environment`` that a Python file made into a document: its values as JSON, each with its place."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rollout.source.contract import templates
from rollout.source.document import Document, Tasks
from rollout.source.place import Parsed, Place, Problem, Route
from rollout.source.python_places import PlaceFinder
from rollout.source.python_run import Run
from rollout.source.python_values import to_json
from rollout.source.tasks import InlineTasks

_TASK_KEYS = ("instruction", "hidden_ground_truth", "input", "split", "id", "solution")
_ALWAYS = ("slug", "name", "template")
_WHEN_SET = ("description", "schema", "seed", "config", "verifier", "dialect", "now")


class DocumentMaker:
    """Turns one ``Environment`` into a document."""

    def __init__(
        self,
        path: Path,
        label: str,
        finder: PlaceFinder,
        done: Run,
        task_kind: type,
        environment: Any,
        names: set[str],
    ) -> None:
        self.path = path
        self.label = label
        self.finder = finder
        self.done = done
        self.task_kind = task_kind
        self.environment = environment
        self.names = names
        self.found: list[tuple[str, Route, dict[str, Any]]] = []

    def document(self, *, alone: bool) -> Document:
        """The environment as a document. Where it is not ``alone`` in its file, its slug is in its label."""
        from rollout.source.folder import leaving_paths

        value = self.value()
        place = self.place(value)
        later = self.finder.later(self.names)
        for key, written in later.items():
            if key in value:
                assert isinstance(place.children, dict)
                place.children[key] = self.finder.place(written, value[key])
        tasks = self.tasks(place, later.get("tasks"))
        problems = [self.problem(place, tasks, *found) for found in self.found]
        template = value["template"] if value["template"] in templates() else None
        problems += leaving_paths(value, place, template)
        return Document(
            root=self.path.parent,
            label=self.label if alone else f"{self.label} ({value['slug']})",
            value=value,
            place=place,
            tasks=tasks,
            sources=(self.finder.source,),
            problems=tuple(problems),
            unread=frozenset(str(route[0]) for _, route, _ in self.found),
            stem=self.path.stem,
        )

    def value(self) -> dict[str, Any]:
        read: dict[str, Any] = {key: getattr(self.environment, key, None) for key in _ALWAYS}
        for key in _WHEN_SET:
            member = getattr(self.environment, key, None)
            if member is not None:
                read[key] = member
        if (read_only := getattr(self.environment, "read_only", True)) is not True:
            read["readOnly"] = read_only
        return {key: to_json(member, (key,), self.tell) for key, member in read.items()}

    def tasks(self, place: Place, later: ast.expr | None) -> InlineTasks:
        made = getattr(self.environment, "tasks", None)
        written = later or self.argument("tasks")
        if not isinstance(made, list | tuple):
            value = to_json(made, ("tasks",), self.tell)
            home = (
                Place(place.source, place.start, place.end)
                if written is None
                else self.finder.place(written, value)
            )
            return InlineTasks(Parsed(value, home))
        values = [self.task(task, index) for index, task in enumerate(made)]
        calls = [self.made(task) for task in made]
        return _MadeTasks(values, place, written, calls, self.finder)

    def task(self, task: Any, index: int) -> Any:
        if not isinstance(task, self.task_kind):
            return to_json(task, ("tasks", index), self.tell)
        members = {key: getattr(task, key, None) for key in _TASK_KEYS}
        if members["hidden_ground_truth"] == {}:
            del members["hidden_ground_truth"]
        return {
            key: to_json(member, ("tasks", index, key), self.tell)
            for key, member in members.items()
            if member is not None
        }

    def tell(self, slug: str, route: Route, facts: dict[str, Any]) -> None:
        self.found.append((slug, route, facts))

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
        call = self.made(self.environment)
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
        call = self.made(self.environment)
        if call is None:
            return None
        by_position = call.args[3] if len(call.args) > 3 else None
        return next((keyword.value for keyword in call.keywords if keyword.arg == name), by_position)

    def made(self, thing: Any) -> ast.Call | None:
        """The call in this file that made ``thing``."""
        noted = self.done.made.get(id(thing))
        return None if noted is None else self.finder.call_at(noted[1])


class _MadeTasks(InlineTasks):
    """The tasks of an environment; the place of one is worked out when it is asked for, as there may be many."""

    def __init__(
        self,
        values: list[Any],
        environment: Place,
        written: ast.expr | None,
        calls: Sequence[ast.Call | None],
        finder: PlaceFinder,
    ) -> None:
        home = Place(environment.source, environment.start, environment.end)
        if written is not None:
            home = finder.place(written, None)
        super().__init__(Parsed(values, home))
        self._written = written
        self._calls = calls
        self._finder = finder

    def place(self, index: int) -> Place | None:
        """Where task ``index`` was made: its own call, else what the list shows of it, else the list."""
        if not 0 <= index < len(self._calls):
            return None
        call = self._calls[index]
        if call is not None:
            return self._finder.place(call, self._value[index])
        if self._written is not None:
            listed = self._finder.place(self._written, self._value)
            if (place := listed.child(index)) is not None:
                return place
        return self._place


__all__ = ["DocumentMaker"]
