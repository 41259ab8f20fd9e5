"""Templates: the worlds a rollout happens in. One file a template, found by its name.

A template's module has ``prepare(environment) -> Stage``: what can be worked out once an environment (its tools, its
compiled texts) is done there, and :meth:`Stage.open` makes the world of one rollout, which shares nothing that can
change with any other.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from rollout.environment import Environment, Task
from rollout.family import member
from rollout.language.canonical import dump

Script = list[dict[str, Any]]
"""A solution: ``{"tool": …, "args": {…}}`` for each call, and ``{"answer": …}`` at the end, as in a task."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool as a model is shown it; ``parameters`` is a JSON Schema object."""

    name: str
    description: str = ""
    parameters: dict[str, Any] = field(default_factory=lambda: {"type": "object", "properties": {}})


@dataclass(frozen=True, slots=True)
class Result:
    """What a call came to: ``content`` is what the model reads, JSON text as a rule.

    ``error`` is the sentence when the call failed; the model reads it too. ``answer`` is set by a tool that hands in
    the answer, after which the model is not asked again.
    """

    content: str
    error: str | None = None
    answer: str | None = None

    @classmethod
    def of(cls, value: Any) -> Result:
        """A result that is a JSON value; written out at once, so that nothing can change it later."""
        return cls(dump(value).decode("utf-8"))

    @classmethod
    def failed(cls, sentence: str) -> Result:
        """A result that is an error, as ``{"error": sentence}``."""
        return cls(dump({"error": sentence}).decode("utf-8"), sentence)


class World(Protocol):
    """One rollout's own world."""

    async def call(self, name: str, args: Mapping[str, Any]) -> Result:
        """Calls a tool of the stage with arguments that satisfy its parameters.

        What an agent can cause is a :class:`Result` with an error, never an exception.
        """

    def state(self) -> dict[str, Any]:
        """A copy of the state as it is now, as JSON."""

    async def close(self) -> None:
        """Gives back whatever the world holds; called once, however the rollout ended."""


class Stage(Protocol):
    """An environment made ready for any number of rollouts, at once if need be."""

    @property
    def tools(self) -> Sequence[Tool]:
        """The tools an agent has here, in the order they are shown."""

    @property
    def notes(self) -> str:
        """What an agent is told of this world before the instruction; may be empty."""

    def open(self, task: Task) -> World:
        """A fresh world for one rollout of ``task``."""

    def solve(self, task: Task) -> Script | None:
        """The calls that lead to the task's ground truth where they are certain, else None."""


class TemplateError(ValueError):
    """An environment that cannot be run; its text is a sentence. Charged to the environment."""


def prepare(environment: Environment) -> Stage:
    """Makes an environment ready to run.

    Raises TemplateError when its template has no world on this machine, or its config cannot be run.
    """
    module = member(__name__, environment.template)
    if module is None:
        raise TemplateError(f"Environments of the template “{environment.template}” cannot be run here yet.")
    stage: Stage = module.prepare(environment)
    return stage


__all__ = ["Result", "Script", "Stage", "TemplateError", "Tool", "World", "prepare"]
