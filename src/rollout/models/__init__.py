"""Models: whoever acts in a world. One file a model or provider, found by the first part of a model's id.

A model's module has ``connect(model_id) -> Model``. A model is asked turn by turn and keeps nothing between two turns,
so that one connection serves any number of rollouts at once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from rollout.environment import Task
from rollout.family import member, members
from rollout.templates import Script, Tool

Message = Mapping[str, Any]
"""A message as chat models know it: ``{"role": …, "content": …}``, with ``tool_calls`` or ``tool_call_id``."""


@dataclass(frozen=True, slots=True)
class Sampling:
    """How a model is to draw its words; None leaves it to the model."""

    temperature: float | None = None
    top_p: float | None = None
    seed: int | None = None
    max_tokens: int | None = None


@dataclass(frozen=True, slots=True)
class Request:
    """What a model is asked: the conversation so far, the tools, and how to sample.

    ``task`` and ``solve`` are for models that run on this machine; a model that is sent anywhere is sent neither,
    since they hold the ground truth. ``solve`` gives the task's solution, written or worked out, or None.
    """

    messages: Sequence[Message]
    tools: Sequence[Tool]
    sampling: Sampling
    task: Task
    solve: Callable[[], Script | None]


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call as the model wrote it; ``arguments`` is its text, whatever it says."""

    id: str
    tool: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of one turn, or of several together; ``cost`` in US dollars, None where no price is known."""

    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None

    def __add__(self, other: Usage) -> Usage:
        costs = [cost for cost in (self.cost, other.cost) if cost is not None]
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            sum(costs) if costs else None,
        )


@dataclass(frozen=True, slots=True)
class Turn:
    """What a model said: text, tool calls, or both. A turn without calls ends the rollout."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    usage: Usage = field(default_factory=Usage)


class Model(Protocol):
    """Something that can be asked for the next turn."""

    @property
    def id(self) -> str:
        """The model's id, as it was asked for."""

    async def respond(self, request: Request) -> Turn:
        """The next turn. Raises ModelError when there is none; anything else it raises is our fault."""

    async def close(self) -> None:
        """Gives back connections; called once."""


Blame = Literal["model", "environment", "verifier", "infrastructure"]
"""Whom an error is charged to."""


class ModelError(Exception):
    """A turn that did not come about; its text is a sentence, ``charged_to`` says whose fault it is."""

    def __init__(self, sentence: str, *, charged_to: Blame = "model") -> None:
        super().__init__(sentence)
        self.charged_to: Blame = charged_to


class UnknownModelError(ValueError):
    """A model id that nothing here answers to; its text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


def connect(model_id: str) -> Model:
    """The model called ``model_id``. Raises UnknownModelError."""
    name = re.split(r"[/:]", model_id, maxsplit=1)[0]
    module = member(__name__, name) if name else None
    if module is None:
        known = ", ".join(members(__name__))
        raise UnknownModelError(
            f"There is no model “{model_id}” here.",
            f"These run on this machine: {known}. Models behind an API need a provider for them.",
        )
    model: Model = module.connect(model_id)
    return model


__all__ = [
    "Blame",
    "Call",
    "Message",
    "Model",
    "ModelError",
    "Request",
    "Sampling",
    "Turn",
    "UnknownModelError",
    "Usage",
    "connect",
]
