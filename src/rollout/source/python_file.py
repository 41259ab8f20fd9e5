"""Reads the environments that a Python file makes: every ``Environment`` among its variables.

The file is run, as ``import`` would. What it raises is a problem at the innermost line of the user's own files.
Values come from the objects, places from the syntax of the file.
"""

from __future__ import annotations

import ast
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from types import CodeType
from typing import Any

from rollout.diagnostics import Span
from rollout.source.contract import schema, templates
from rollout.source.document import Document
from rollout.source.file import read_source, whole
from rollout.source.listing import join_label
from rollout.source.place import Parsed, Place, Problem, Route
from rollout.source.python_places import PlaceFinder
from rollout.source.python_run import Frame, Run, own_frames, run
from rollout.source.python_values import to_json
from rollout.source.tasks import InlineTasks
from rollout.source.text import SourceFile

_TASK_KEYS = ("instruction", "hidden_ground_truth", "input", "split", "id", "solution")
_ALWAYS = ("slug", "name", "template")
_WHEN_SET = ("description", "schema", "seed", "config", "verifier")
_SHOWN_FRAMES = 8


def read_python(path: Path, label: str) -> list[Document]:
    """The environments that the file at ``path`` makes, in the order in which its variables were first set.

    Where the file cannot be read or run, or makes none, one document that holds nothing but the problem.
    """
    problems: list[Problem] = []
    source = read_source(path, label, problems)
    if source is None:
        return [_empty(path, label, SourceFile(path, label, ""), problems)]
    # The absolute path, so that ``__file__`` and the names in tracebacks stay right when the file changes folder.
    filename = os.fspath(path if path.is_absolute() else Path.cwd() / path)
    compiled = _compile(source, filename)
    if isinstance(compiled, BaseException):
        problems.append(_failure(compiled, path, source))
        return [_empty(path, label, source, problems)]
    tree, code = compiled
    kinds = _kinds()
    done = run(Path(filename), code, kinds)
    if done.error is not None:
        problems.append(_failure(done.error, path, source))
        return [_empty(path, label, source, problems)]
    environments = _environments(done.variables, kinds[0])
    if not environments:
        problems.append(Problem("no-environment-in-file", whole(label), {"has_main": _has_main(tree)}))
        return [_empty(path, label, source, problems)]
    finder = PlaceFinder(source, tree)
    readers = [_Reader(path, label, finder, done, kinds, found, names) for found, names in environments]
    return [reader.document(alone=len(readers) == 1) for reader in readers]


def _kinds() -> tuple[type, type]:
    # The public names, as the user's file gets them: they lie to the right of here, and are never imported.
    package = sys.modules["rollout"]
    return package.Environment, package.Task


def _compile(source: SourceFile, filename: str) -> tuple[ast.Module, CodeType] | BaseException:
    try:
        tree = ast.parse(source.text, filename)
        return tree, compile(tree, filename, "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return error


def _environments(variables: dict[str, Any], kind: type) -> list[tuple[Any, set[str]]]:
    """Every object of ``kind`` among the variables, or in a list, tuple or dict there, with its variables' names."""
    found: dict[int, tuple[Any, set[str]]] = {}
    for name, value in variables.items():
        for member in _members(value):
            if isinstance(member, kind):
                _, names = found.setdefault(id(member), (member, set()))
                if member is value:
                    names.add(name)
    return list(found.values())


def _members(value: Any) -> Iterable[Any]:
    if isinstance(value, list | tuple):
        return value
    return list(value.values()) if isinstance(value, dict) else (value,)


class _Reader:
    """Turns one ``Environment`` into a document."""

    def __init__(
        self,
        path: Path,
        label: str,
        finder: PlaceFinder,
        done: Run,
        kinds: tuple[type, type],
        environment: Any,
        names: set[str],
    ) -> None:
        self.path = path
        self.label = label
        self.finder = finder
        self.done = done
        self.kinds = kinds
        self.environment = environment
        self.names = names
        self.found: list[tuple[str, Route, dict[str, Any]]] = []

    def document(self, *, alone: bool) -> Document:
        from rollout.source.folder import leaving_paths

        value, tasks = self.value(), self.tasks()
        place = self.place(value)
        later = self.finder.later(self.names)
        for key, written in later.items():
            if key in value:
                assert isinstance(place.children, dict)
                place.children[key] = self.finder.place(written, value[key])
        task_list = Parsed(tasks, self.tasks_place(tasks, place, later.get("tasks")))
        if isinstance(place.children, dict):
            place.children.pop("tasks", None)
        problems = [self.problem(place, task_list.place, *found) for found in self.found]
        template = value["template"] if value["template"] in templates() else None
        problems += leaving_paths(value, place, template)
        return Document(
            root=self.path.parent,
            label=self.label if alone else f"{self.label} ({value['slug']})",
            value=value,
            place=place,
            tasks=InlineTasks(task_list),
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
        return {key: to_json(member, (key,), self.tell) for key, member in read.items()}

    def tasks(self) -> Any:
        tasks = getattr(self.environment, "tasks", None)
        if not isinstance(tasks, list | tuple):
            return to_json(tasks, ("tasks",), self.tell)
        return [self.task(task, index) for index, task in enumerate(tasks)]

    def task(self, task: Any, index: int) -> Any:
        if not isinstance(task, self.kinds[1]):
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

    def problem(self, place: Place, tasks: Place, slug: str, route: Route, facts: dict[str, Any]) -> Problem:
        root, rest = (tasks, route[1:]) if route[0] == "tasks" else (place, route)
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
        return place

    def tasks_place(self, tasks: Any, place: Place, later: ast.expr | None) -> Place:
        written = later or self.argument("tasks")
        listed = (
            self.finder.place(written, tasks)
            if written is not None
            else Place(place.source, place.start, place.end)
        )
        if not isinstance(tasks, list):
            return listed
        children = listed.children if isinstance(listed.children, list) else None
        made: list[Place] = []
        for index, task in enumerate(getattr(self.environment, "tasks", ())):
            call = self.made(task)
            if call is not None:
                made.append(self.finder.place(call, tasks[index]))
            else:
                made.append(children[index] if children else Place(listed.source, listed.start, listed.end))
        listed.children = made
        return listed

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


def _empty(path: Path, label: str, source: SourceFile, problems: list[Problem]) -> Document:
    place = Place(source, 0, 0, {})
    return Document(
        root=path.parent,
        label=label,
        value={},
        place=place,
        tasks=InlineTasks(Parsed([], Place(source, 0, 0))),
        sources=(source,),
        problems=tuple(problems),
        readable=False,
        unread=frozenset(schema("environment")["properties"]),
        stem=path.stem,
    )


def _failure(error: BaseException, path: Path, source: SourceFile) -> Problem:
    # A function that calls itself a thousand times is one step.
    frames = list(dict.fromkeys(reversed(own_frames(error, path))))[::-1]
    shown = [(_span(frame, path, source), frame.function) for frame in frames[-_SHOWN_FRAMES:]]
    span = shown[-1][0] if shown else whole(source.label)
    facts = {
        "type": type(error).__name__,
        "text": _text(error),
        "missing": error.name if isinstance(error, ModuleNotFoundError) else None,
        "file": os.fspath(error.filename)
        if isinstance(error, FileNotFoundError) and error.filename
        else None,
        "frames": tuple(shown),
        "see": tuple((span, "called from here") for span, _ in shown[:-1]),
    }
    return Problem("python-file-failed", span, facts)


def _text(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return error.msg or ""
    if isinstance(error, OSError) and error.strerror and isinstance(error.filename, str | bytes):
        return f"{error.strerror}: {os.fsdecode(error.filename)}"
    try:
        return str(error)
    except Exception:
        return ""


def _span(frame: Frame, path: Path, source: SourceFile) -> Span:
    line, end_line, column, end_column = frame.position
    if os.path.realpath(frame.path) == os.path.realpath(path):
        label, text = source.label, source.text
    else:
        folder = os.path.realpath(path.parent)
        name = Path(os.path.realpath(frame.path)).relative_to(folder).as_posix()
        label = join_label(Path(source.label).parent.as_posix(), name)
        other = read_source(frame.path, label, [])
        text = other.text if other is not None else ""
    lines = text.split("\n")
    shown = lines[line - 1].removesuffix("\r") if 0 < line <= len(lines) else ""
    last = lines[end_line - 1] if 0 < end_line <= len(lines) else ""
    start = len(shown.encode("utf-8")[:column].decode("utf-8", "ignore"))
    end = len(last.encode("utf-8")[:end_column].decode("utf-8", "ignore"))
    return Span(label, line, start + 1, end_line, max(end, start if end_line == line else 0) + 1, shown)


def _has_main(tree: ast.Module) -> bool:
    """Whether some of the file only runs when it is the main program."""
    return any(isinstance(node, ast.If) and "__main__" in ast.unparse(node.test) for node in tree.body)


__all__ = ["read_python"]
