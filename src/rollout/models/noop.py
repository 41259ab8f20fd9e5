"""noop: says nothing and calls nothing, to prove that a task is not passed by doing nothing."""

from __future__ import annotations

from rollout.models import Request, Setup, Turn


def connect(model_id: str, setup: Setup) -> Noop:
    """The model that does nothing, under the id it was asked for by."""
    return Noop(model_id)


class Noop:
    """Answers every request with an empty turn."""

    def __init__(self, model_id: str) -> None:
        self.id = model_id

    async def respond(self, request: Request) -> Turn:
        """An empty turn."""
        return Turn()

    async def close(self) -> None:
        """There is nothing to give back."""


__all__ = ["Noop", "connect"]
