"""Judges stored rollouts again: the same traces, by the verifier that there is now. No agent runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from rollout.engine import Outcome, Rollout, Verdict
from rollout.engine.inputs import inputs
from rollout.engine.judge import VerifierGrader
from rollout.environment import Environment, Task
from rollout.models import Sampling


@dataclass(frozen=True, slots=True)
class Regraded:
    """Which rollout, the verdict that was stored, and the one that it has now."""

    task: str
    trial: int
    before: Verdict
    after: Verdict

    @property
    def has_other_outcome(self) -> bool:
        """Whether it came out otherwise than before."""
        return self.before.outcome is not self.after.outcome

    @property
    def is_changed(self) -> bool:
        """Whether its outcome or its score is another; rounding of a score does not count."""
        if self.has_other_outcome:
            return True
        before, after = self.before.score, self.after.score
        if before is None or after is None:
            return before is not after
        return abs(before - after) > 1e-9


class Regrader:
    """Judges rollouts of one environment again. ``grader`` is to be closed by whoever made it."""

    def __init__(self, environment: Environment, grader: VerifierGrader) -> None:
        self.environment = environment
        self.grader = grader
        self._tasks: dict[str, Task] = {task.key: task for task in environment.tasks}

    def knows(self, rollout: Rollout) -> bool:
        """Whether the rollout's task is still there."""
        return rollout.trace.task in self._tasks

    async def judge(self, rollout: Rollout) -> Regraded:
        """Judges one rollout again; one that broke before it could be judged stays what it was."""
        if rollout.trace.failure is not None:
            after = Verdict(Outcome.ERROR, None, failure=rollout.trace.failure)
        else:
            after = await self.grader.grade(self._tasks[rollout.trace.task], rollout.trace)
        return Regraded(rollout.trace.task, rollout.trace.trial, rollout.verdict, after)


def other_inputs(environment: Environment, recorded: Mapping[str, Any]) -> list[str]:
    """Which inputs of a recorded run, its verifier aside, are others now: “the environment”, “its tasks”."""
    model = str(recorded.get("model", ""))
    now = inputs(environment, model, address=None, sampling=Sampling(), max_tool_calls=0, seconds=None)
    named = {"environment": "the environment", "tasks": "its tasks"}
    return [words for key, words in named.items() if recorded.get(key) != now[key]]


__all__ = ["Regraded", "Regrader", "other_inputs"]
