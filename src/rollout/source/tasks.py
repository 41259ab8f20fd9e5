"""The tasks of an environment: listed in a YAML, TOML or JSON file, or streamed from JSONL files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import Any

from rollout.family import member
from rollout.source.contract import schema
from rollout.source.document import TaskBlock, TaskRecord
from rollout.source.file import read_regular
from rollout.source.jsonl import JsonlTasks
from rollout.source.place import Parsed, Place, Problem

_TYPES: dict[str, type] = {"string": str, "object": dict, "array": list}
_WANTED = {"string": "a string", "object": "an object", "array": "a list"}


class InlineTasks:
    """Tasks that are members of a list: ``tasks.yaml``, or the ``tasks`` of an ``environment.yaml``."""

    def __init__(self, parsed: Parsed) -> None:
        self._value = parsed.value
        self._place = parsed.place

    @property
    def home(self) -> Place:
        """The list, with its key where it has one."""
        return self._place

    def read(self, problems: list[Problem]) -> Iterator[TaskRecord]:
        """All tasks in order. Members that are no objects go to ``problems`` and are left out, but count."""
        if not isinstance(self._value, list):
            if self._value is not None:
                problems.append(Problem("tasks-not-a-list", self._place.span(), {"value": self._value}))
            return
        for index, value in enumerate(self._value):
            if isinstance(value, dict):
                yield TaskRecord(index, value)
            else:
                span = (self.place(index) or self._place).span()
                problems.append(Problem("task-not-an-object", span, {"value": value}))

    def blocks(self, problems: list[Problem]) -> Iterator[TaskBlock]:
        """All tasks as one block."""
        yield TaskBlock([*self.read(problems)], None)

    def place(self, index: int) -> Place | None:
        """Where task ``index`` stands."""
        return self._place.child(index)


def read_jsonl_tasks(path: str | PathLike[str]) -> Iterator[dict[str, Any]]:
    """The tasks of one ``.jsonl`` file as they are written.

    Raises ValueError, whose message begins with file, line and column, at the first line that is no task, and
    OSError when the file cannot be read.
    """
    tasks = JsonlTasks([(Path(path), os.fspath(path))])
    problems: list[Problem] = []
    for record in tasks.read(problems):
        if problems:
            break
        fault = _find_fault(record.value)
        if fault is not None:
            key, message = fault
            place = tasks.place(record.index) or tasks.home
            span = place.nearest((key,))[0].span("key")
            raise ValueError(f"{span}: {message}")
        yield record.value
    if problems:
        if problems[0].slug == "unreadable-file":
            read_regular(Path(path))
        raise ValueError(f"{problems[0].span}: {_describe(problems[0])}")


def _find_fault(value: dict[str, Any]) -> tuple[str, str] | None:
    """What keeps an object from being a task, with the key that it is about."""
    known = schema("task")["properties"]
    for key, given in value.items():
        if key not in known:
            if key.startswith("x-"):
                continue
            from difflib import get_close_matches

            near = get_close_matches(key, known, n=1)
            hint = f"Did you mean “{near[0]}”?" if near else f"The keys are {', '.join(known)} and x-…"
            return key, f"A task has no key “{key}”. {hint}"
        wanted = known[key]
        if "enum" in wanted and given not in wanted["enum"]:
            return key, f"“{key}” is to be one of {', '.join(wanted['enum'])}."
        if "type" in wanted and not isinstance(given, _TYPES[wanted["type"]]):
            return key, f"“{key}” is to be {_WANTED[wanted['type']]}."
    one, other = schema("task")["not"]["required"]
    if one in value and other in value:
        return other, f"A task has “{one}” or “{other}”, not both."
    if "instruction" not in value:
        return "instruction", "The task has no instruction: the text that the agent is given."
    return None


def _describe(problem: Problem) -> str:
    # The words for what a reader notices are its rule's, found by name as everywhere.
    rule = member("rollout.check.problems", problem.slug)
    assert rule is not None
    message, hint = rule.describe(problem)
    return f"{message} {hint}" if hint else str(message)


__all__ = ["InlineTasks", "JsonlTasks", "read_jsonl_tasks"]
