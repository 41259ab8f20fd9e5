"""Describes the environments among a Python file's variables in JSON, without trusting what the file made.

Objects may lie about their class, refuse to be looked at, or run code when they are. So types are asked for with
``type``, slots and containers are read by the methods of the plain types, and what is left is a problem at its place.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from rollout.source.place import Route
from rollout.source.python_run import Position, Run, describe_error
from rollout.source.python_values import is_kind, items_of, members_of, to_json

_ENVIRONMENT_KEYS = {
    "slug": "slug",
    "name": "name",
    "template": "template",
    "description": "description",
    "schema": "schema",
    "seed": "seed",
    "config": "config",
    "verifier": "verifier",
    "dialect": "dialect",
    "now": "now",
    "read_only": "readOnly",
}
_ALWAYS = frozenset({"slug", "name", "template"})
_TASK_KEYS = ("instruction", "hidden_ground_truth", "input", "split", "id", "solution")
_MRO = type.__dict__["__mro__"].__get__
_NAMESPACE = type.__dict__["__dict__"].__get__


class Describer:
    """Reads environments and tasks, as their classes were before the file ran."""

    def __init__(self, environment_kind: type, task_kind: type) -> None:
        self.environment_kind = environment_kind
        self.task_kind = task_kind
        self._slots = {
            kind: {name: vars(kind)[name] for name in names}
            for kind, names in (
                (environment_kind, (*_ENVIRONMENT_KEYS, "tasks")),
                (task_kind, _TASK_KEYS),
            )
        }

    def describe(self, done: Run) -> dict[str, Any]:
        """The report on a file that ran to its end: its environments, in the order of the variables."""
        found: dict[int, tuple[Any, list[str]]] = {}
        for name, value in done.variables.items():
            for member in _members(value):
                if is_kind(member, self.environment_kind):
                    _, names = found.setdefault(id(member), (member, []))
                    if member is value:
                        names.append(name)
        return {"environments": [self._environment(member, names, done) for member, names in found.values()]}

    def _environment(self, environment: Any, names: list[str], done: Run) -> dict[str, Any]:
        problems: list[tuple[str, Route, dict[str, Any]]] = []

        def tell(slug: str, route: Route, facts: dict[str, Any]) -> None:
            problems.append((slug, route, facts))

        value: dict[str, Any] = {}
        for name, key in _ENVIRONMENT_KEYS.items():
            member = self._get(environment, self.environment_kind, name, (key,), tell)
            if key in _ALWAYS or not (member is None or (key == "readOnly" and member is True)):
                value[key] = to_json(member, (key,), tell)
        described: dict[str, Any] = {
            "names": names,
            "value": value,
            "position": _position(environment, done),
            "problems": problems,
        }
        tasks = self._get(environment, self.environment_kind, "tasks", ("tasks",), tell)
        listed = members_of(tasks)
        if listed is None:
            described["tasks"] = to_json(tasks, ("tasks",), tell)
        else:
            described["tasks"] = [self._task(task, index, tell) for index, task in enumerate(listed)]
            described["made"] = [_position(task, done) for task in listed]
            described["read"] = [done.read.get(id(task), (None, None, None))[1:] for task in listed]
        return described

    def _task(self, task: Any, index: int, tell: Any) -> Any:
        route: Route = ("tasks", index)
        if not is_kind(task, self.task_kind):
            return to_json(task, route, tell)
        value: dict[str, Any] = {}
        for key in _TASK_KEYS:
            member = self._get(task, self.task_kind, key, (*route, key), tell)
            if member is not None:
                value[key] = to_json(member, (*route, key), tell)
        if value.get("hidden_ground_truth") == {}:
            del value["hidden_ground_truth"]
        return value

    def _get(self, thing: Any, kind: type, name: str, route: Route, tell: Any) -> Any:
        """A field of ``thing``: its slot, unless a subclass has something else under that name."""
        owner = next((each for each in _MRO(type(thing)) if name in _NAMESPACE(each)), kind)
        try:
            if owner is kind:
                return self._slots[kind][name].__get__(thing)
            return getattr(thing, name)
        except KeyboardInterrupt:
            raise
        except BaseException as error:
            if owner is not kind or type(error) is not AttributeError:
                tell("python-file-failed", route, describe_error(error))
            return None  # A field that was deleted, or never set, says nothing.


def _position(thing: Any, done: Run) -> Position | None:
    noted = done.made.get(id(thing))
    return None if noted is None else noted[1]


def _members(value: Any) -> Iterable[Any]:
    """``value``, or what it holds when it is a list, a tuple or a dict."""
    if (listed := members_of(value)) is not None:
        return listed
    if (items := items_of(value)) is not None:
        return [member for _, member in items]
    return (value,)


__all__ = ["Describer"]
