"""oracle: plays a task's ``solution``, one step a turn, to prove that the task can be solved.

A task without a solution is played from its ground truth where the template can work the calls out for certain.
"""

from __future__ import annotations

from rollout.language.canonical import dump
from rollout.models import Call, ModelError, Request, Turn


def connect(model_id: str) -> Oracle:
    """The oracle, under the id it was asked for by."""
    return Oracle(model_id)


class Oracle:
    """Plays the solution. Where it stands is read off the conversation: one step for each turn it has had."""

    def __init__(self, model_id: str) -> None:
        self.id = model_id

    async def respond(self, request: Request) -> Turn:
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
        step = script[number]
        if "answer" in step:
            answer = step["answer"]
            return Turn(answer if isinstance(answer, str) else dump(answer).decode("utf-8"))
        if not isinstance(step.get("tool"), str):
            raise ModelError(
                f"Step {number + 1} of the solution is neither a tool call nor an answer.",
                charged_to="environment",
            )
        arguments = dump(step.get("args") or {}).decode("utf-8")
        return Turn(calls=(Call(f"oracle_{number + 1}", step["tool"], arguments),))

    async def close(self) -> None:
        """There is nothing to give back."""


__all__ = ["Oracle", "connect"]
