"""The engine: one rollout, its verdict, and the proof of an environment.

Its seam are two protocols. A :class:`Workflow` turns a task into a trace, a :class:`Grader` turns the trace into a
verdict; :func:`roll_out` joins them. A declared environment is the first pair: ``loop.EnvironmentWorkflow`` and
``judge.VerifierGrader``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Literal, Protocol

from rollout.environment import Task
from rollout.models import AnyModel, Blame, Exchange, Message, Sampling, Usage
from rollout.verifiers import ToolCall


class Outcome(StrEnum):
    """How a rollout came out. Only the first two are grades; ``unscored`` is a rollout that no grader could grade."""

    PASSED = "passed"
    FAILED = "failed"
    ERROR = "error"
    UNSCORED = "unscored"


@dataclass(frozen=True, slots=True)
class Failure:
    """What kept a rollout or a verdict from coming about, in a sentence, and whom it is charged to."""

    sentence: str
    charged_to: Blame


Ending = Literal["answer", "submitted", "silence", "tool_limit", "failure"]
"""How a rollout ended: by a turn without calls that said something, by a tool that hands the answer in, by a turn that
said nothing, at the limit of tool calls, or because something broke."""


@dataclass(frozen=True, slots=True)
class Trace:
    """All that happened in one rollout, as JSON values that nothing changes any more.

    ``task`` is the task's key, ``trial`` counts from 0 how often it was done. ``exchanges`` say how each turn was had
    from a model elsewhere. ``seconds`` is how long it took; it is left out of comparisons, so that two traces are equal
    when the same happened.
    """

    environment: str
    template: str
    task: str
    model: str
    messages: tuple[Message, ...]
    calls: tuple[ToolCall, ...]
    initial_state: dict[str, Any]
    final_state: dict[str, Any]
    final_output: str
    ending: Ending
    usage: Usage
    failure: Failure | None = None
    seconds: float = field(default=0.0, compare=False)
    trial: int = 0
    sampling: Sampling = field(default_factory=Sampling)
    exchanges: tuple[Exchange, ...] = ()


@dataclass(frozen=True, slots=True)
class Mark:
    """What one primitive said: its value (None when it could not judge), why, and what that rests on.

    ``unscored`` says that it gave no value because its judge gave no verdict, which is no error of the environment's.
    ``usage`` is what a model that judged used, None where none did.
    """

    name: str
    type: str
    weight: float
    value: float | None
    reason: str
    failure: Failure | None = None
    evidence: Mapping[str, Any] = field(default_factory=dict, compare=False)
    unscored: bool = False
    usage: Usage | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Verdict:
    """The outcome, the score from 0 to 1 (None unless it was graded), the marks it comes from, and the threshold."""

    outcome: Outcome
    score: float | None
    marks: tuple[Mark, ...] = ()
    threshold: float = 1.0
    failure: Failure | None = None

    @property
    def usage(self) -> Usage:
        """What models that judged used, all together."""
        return sum((mark.usage for mark in self.marks if mark.usage is not None), Usage())


@dataclass(frozen=True, slots=True)
class Rollout:
    """A trace with its verdict."""

    trace: Trace
    verdict: Verdict


class Workflow(Protocol):
    """Turns a task into a trace, with a model to act in it."""

    async def run(self, task: Task, model: AnyModel, *, trial: int = 0) -> Trace:
        """One rollout. A failure is on the trace; nothing is raised for what a model or an environment does."""


class Grader(Protocol):
    """Turns a trace into a verdict."""

    async def grade(self, task: Task, trace: Trace) -> Verdict:
        """Grades one rollout. What cannot be graded is a verdict too, never an exception."""


async def roll_out(
    workflow: Workflow, grader: Grader, task: Task, model: AnyModel, *, trial: int = 0
) -> Rollout:
    """Runs one task and grades it; a rollout that broke is an error without being graded."""
    trace = await workflow.run(task, model, trial=trial)
    if trace.failure is not None:
        return Rollout(trace, Verdict(Outcome.ERROR, None, failure=trace.failure))
    return Rollout(trace, await grader.grade(task, trace))


@dataclass(frozen=True, slots=True)
class Tally:
    """How many rollouts came out how. Rates have both denominators: what was graded, and all."""

    outcomes: Mapping[Outcome, int]

    @property
    def passed(self) -> int:
        """How many passed."""
        return self.outcomes.get(Outcome.PASSED, 0)

    @property
    def graded(self) -> int:
        """How many passed or failed."""
        return self.passed + self.outcomes.get(Outcome.FAILED, 0)

    @property
    def all(self) -> int:
        """How many there were."""
        return sum(self.outcomes.values())


__all__ = [
    "Ending",
    "Failure",
    "Grader",
    "Mark",
    "Outcome",
    "Rollout",
    "Tally",
    "Trace",
    "Verdict",
    "Workflow",
    "roll_out",
]
