"""Verifiers: how a finished rollout is judged. One file a primitive, found by its type.

A primitive's module has ``judge(case, options) -> Judgement``, plain or async. ``options`` are the keys of the
primitive as written, already checked against the contract. What cannot be judged raises :class:`CannotJudgeError`; it
is never a pass and never a fail. A plain ``judge`` holds up the event loop, so what may take long is async. A module
that keeps a limit of its own to the time it takes, from when it starts and not while it waits for its turn, says so by
``LIMITS_ITSELF = True``; every other primitive gets the engine's.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rollout.database import DatabaseSpec
from rollout.environment import Task

if TYPE_CHECKING:
    # The names of the primitives are asked for where no model is.
    from rollout.models import AnyModel, Blame, Message, Usage


@dataclass(frozen=True, slots=True)
class ToolCall:
    """A call that was made, and what came of it.

    ``arguments`` is the text the model wrote; ``args`` what it was read as, None when it could not be. ``content`` is
    what the model was answered, ``error`` the sentence in it when the call failed. ``ran`` is False when the call never
    came to the tool, because there is no such tool or it does not take such arguments.
    """

    id: str
    tool: str
    arguments: str
    args: dict[str, Any] | None
    content: str
    error: str | None = None
    ran: bool = True


@dataclass(frozen=True, slots=True)
class Case:
    """All there is to judge: the task, the state before and after, the calls in order, and the last words.

    ``config`` is the environment's; it says how to judge, and nothing in it may be changed. ``database`` is what a
    sql environment says of its database, ``folder`` where the environment's files are. ``messages`` is the whole
    conversation. ``connect`` gives the model of an id, for judges that ask one: it raises
    :class:`rollout.models.ConnectError`, and the model is not to be closed. None where no model may be asked.
    """

    task: Task
    template: str
    initial_state: dict[str, Any]
    final_state: dict[str, Any]
    final_output: str
    calls: tuple[ToolCall, ...]
    config: Mapping[str, Any] = field(default_factory=dict)
    database: DatabaseSpec | None = None
    folder: Path | None = None
    messages: Sequence[Message] = ()
    connect: Callable[[str], AnyModel] | None = None

    @property
    def ground_truth(self) -> dict[str, Any]:
        """The task's ground truth. Raises CannotJudgeError when there is none."""
        if not self.task.hidden_ground_truth:
            raise CannotJudgeError("The task has no hidden_ground_truth.", charged_to="environment")
        return self.task.hidden_ground_truth


@dataclass(frozen=True, slots=True)
class Judgement:
    """A value from 0 to 1, and the sentence that says why. Raises ValueError for any other value.

    ``evidence`` is what it rests on, such as what a command printed, as JSON; ``usage`` is what a model used that
    judged, None where none did. Both are kept for people to read, and left out of comparisons. ``absent`` says that
    what was to be judged is not there at all, or cannot be read: ``not`` makes no pass of that.
    """

    value: float
    reason: str
    evidence: Mapping[str, Any] = field(default_factory=dict, compare=False)
    usage: Usage | None = field(default=None, compare=False)
    absent: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.value, bool) or not math.isfinite(self.value) or not 0 <= self.value <= 1:
            raise ValueError(f"{self.value!r} is no value from 0 to 1.")


def passed(reason: str, evidence: Mapping[str, Any] | None = None) -> Judgement:
    """The value 1."""
    return Judgement(1.0, reason, evidence or {})


def failed(reason: str, evidence: Mapping[str, Any] | None = None) -> Judgement:
    """The value 0."""
    return Judgement(0.0, reason, evidence or {})


def absent(reason: str, evidence: Mapping[str, Any] | None = None) -> Judgement:
    """The value 0, whether or not it is turned around: what was to be judged is not there, or cannot be read.

    It is looked for before anything is compared, so that what differs elsewhere does not hide it.
    """
    return Judgement(0.0, reason, evidence or {}, absent=True)


class CannotJudgeError(Exception):
    """Something that cannot be judged; its text is a sentence, ``charged_to`` says whose fault it is.

    ``evidence`` and ``usage`` are as of a :class:`Judgement`.
    """

    def __init__(
        self,
        sentence: str,
        *,
        charged_to: Blame = "verifier",
        evidence: Mapping[str, Any] | None = None,
        usage: Usage | None = None,
    ) -> None:
        super().__init__(sentence)
        self.charged_to: Blame = charged_to
        self.evidence = evidence or {}
        self.usage = usage


class UnscoredError(CannotJudgeError):
    """A judge gave no verdict, though nothing is wrong with what was to be judged: the rollout stays unscored."""


__all__ = ["CannotJudgeError", "Case", "Judgement", "ToolCall", "UnscoredError", "absent", "failed", "passed"]
