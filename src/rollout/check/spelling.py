"""Which of two spellings is wrong: that of a placeholder whose parameter nothing declares, or that of a call."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from itertools import islice
from typing import Any

from rollout.check.subject import Subject
from rollout.check.tool_view import Read, ToolView
from rollout.check.wording import closest

_OBJECTS = 20_000
_TASKS = 10_000


class Spellings:
    """The names that the environment and its solutions write out, to tell a misspelt name from a right one."""

    def __init__(self, subject: Subject) -> None:
        self._subject = subject

    def misspelt(self, tool: ToolView, given: str) -> tuple[Read, bool] | None:
        """The place in a tool whose parameters are inferred that may misspell the argument ``given`` of a solution.

        With it comes whether that is certain. None where the solution is to blame: where what the place says is
        written elsewhere too, or another solution gives it.
        """
        near = closest(given, tool.parameters.names) if tool.parameters.form == "inferred" else None
        if near is None:
            return None
        own = {key for value in _objects(tool.item.value) for key in value}
        certain = given in own and near not in own
        if not certain:
            certain = given in self._written and near not in self._written
            if near in self._written or (tool.name, near) in self._given:
                return None
        found = (read for read in tool.reads if read.root == "args" and read.steps[:1] == (near,))
        read = next(found, None)
        return None if read is None else (read, certain)

    @cached_property
    def _written(self) -> frozenset[str]:
        """The parameters that tools declare, and the keys of what they write, of fixtures and of the start state."""
        subject = self._subject
        declared = {name for tool in subject.tool_views if tool.is_declared for name in tool.parameters.names}
        held = [subject.fixtures, subject.initial_state, [tool.value for tool in subject.tools]]
        return frozenset(declared.union(*islice(_objects(held), _OBJECTS)))

    @cached_property
    def _given(self) -> frozenset[tuple[str, str]]:
        """The arguments that solutions give, each with the name of its tool."""
        found: set[tuple[str, str]] = set()
        for record in islice(self._subject.document.tasks.read([]), _TASKS):
            steps = record.value.get("solution")
            for step in steps if isinstance(steps, list) else ():
                args = step.get("args") if isinstance(step, dict) else None
                if isinstance(args, dict):
                    found.update((str(step.get("tool")), name) for name in args)
        return frozenset(found)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    pending = [value]
    while pending:
        here = pending.pop()
        if isinstance(here, dict):
            yield here
        pending += here.values() if isinstance(here, dict) else here if isinstance(here, list) else ()


__all__ = ["Spellings"]
