"""oracle: plays a task's ``solution``, one step a turn, to prove that the task can be solved.

A task without a solution is played from its ground truth where the template can work the calls out for certain.
"""

from __future__ import annotations

from typing import Any, Literal

from rollout.language.canonical import dump
from rollout.models import Call, InsiderRequest, ModelError, Setup, Turn


def connect(model_id: str, setup: Setup) -> Oracle:
    """The oracle, under the id it was asked for by."""
    return Oracle(model_id)


class Oracle:
    """Plays the solution. Where it stands is read off the conversation: one step for each turn it has had."""

    insider: Literal[True] = True

    def __init__(self, model_id: str) -> None:
        self.id = model_id

    async def respond(self, request: InsiderRequest) -> Turn:
        """The next step of the solution, or an empty turn after the last.

        Raises ModelError, charged to the environment, when the task has no solution.
        """
        script = request.solve()
        if script is None:
            raise ModelError(
                "The task has no solution, and none follows from its ground truth.", charged_to="environment"
            )
        number = sum(message["role"] == "assistant" for message in request.messages)
        if number >= len(script):
            return Turn()
        try:
            return _play(script[number], number + 1)
        except (ValueError, TypeError) as error:
            raise ModelError(
                f"Step {number + 1} of the solution cannot be played: {error}.", charged_to="environment"
            ) from None

    async def close(self) -> None:
        """There is nothing to give back."""


def _play(step: Any, number: int) -> Turn:
    if not isinstance(step, dict) or not ("answer" in step or isinstance(step.get("tool"), str)):
        raise TypeError("it is neither a tool call nor an answer")
    if "answer" in step:
        answer = step["answer"]
        return Turn(answer if isinstance(answer, str) else dump(answer).decode("utf-8"))
    arguments = dump(step.get("args") or {}).decode("utf-8")
    return Turn(calls=(Call(f"oracle_{number}", step["tool"], arguments),))


__all__ = ["Oracle", "connect"]
