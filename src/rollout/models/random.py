"""random:SEED: makes valid calls at random, to see what chance alone comes to.

Tools and arguments are drawn from the tools' schemas, texts also from what has been said so far. The same seed does the
same in the same trial of the same task, at any concurrency and on any machine.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import Any

import jsonschema_rs

from rollout.language.canonical import dump
from rollout.models import Call, ModelError, Request, Setup, Turn, UnknownModelError
from rollout.models._drawing import Drawing
from rollout.models._seen import words as seen_words
from rollout.templates import Tool

_STOPS = 0.15
_DRAWS = 50


def connect(model_id: str, setup: Setup) -> RandomCaller:
    """The model under its id. Raises UnknownModelError for a seed that is no whole number."""
    seed = model_id.partition(":")[2] if ":" in model_id else "0" if model_id == "random" else ""
    if not re.fullmatch(r"-?[0-9]{1,18}", seed):
        raise UnknownModelError(
            f"“{model_id}” has no seed.", "Write random:SEED with a whole number, such as random:1."
        )
    return RandomCaller(model_id, int(seed))


class RandomCaller:
    """Makes one valid call a turn, and stops when chance says so."""

    def __init__(self, model_id: str, seed: int) -> None:
        self.id = model_id
        self.seed = seed
        self._validators: dict[int, tuple[Tool, jsonschema_rs.Validator | None]] = {}

    async def respond(self, request: Request) -> Turn:
        """A call of a tool with arguments that it takes, or a few words, which end the rollout.

        Raises ModelError, charged to the environment, when no valid arguments can be drawn for any tool.
        """
        number = sum(message["role"] == "assistant" for message in request.messages)
        key = request.key
        random = Random(f"{self.seed}\0{key.environment}\0{key.task}\0{key.trial}\0{number}")
        if not request.tools or (number and random.random() < _STOPS):
            return Turn("That is all.")
        words = seen_words(request.messages)
        for tool in random.sample(list(request.tools), len(request.tools)):
            arguments = self._draw(tool, random, words)
            if arguments is not None:
                text = dump(arguments).decode("utf-8")
                return Turn(calls=(Call(f"random_{number + 1}", tool.name, text),))
        raise ModelError("For none of the tools valid arguments could be drawn.", charged_to="environment")

    async def close(self) -> None:
        """There is nothing to give back."""

    def _draw(self, tool: Tool, random: Random, words: Sequence[str]) -> dict[str, Any] | None:
        validator = self._validator(tool)
        drawing = Drawing(random, tool.parameters, words)
        for _ in range(_DRAWS):
            drawn = drawing.value()
            try:
                if isinstance(drawn, dict) and (validator is None or validator.is_valid(drawn)):
                    return drawn
            except ValueError:
                # A pattern that backtracks without end says nothing about what was drawn.
                continue
        return None

    def _validator(self, tool: Tool) -> jsonschema_rs.Validator | None:
        known = self._validators.get(id(tool))
        if known is None:
            try:
                made = jsonschema_rs.validator_for(tool.parameters, offline=True, validate_formats=False)
            except (ValueError, jsonschema_rs.ReferencingError):
                made = None
            # The tool is kept, so that no other can come to have its id.
            known = self._validators[id(tool)] = tool, made
        return known[1]


__all__ = ["RandomCaller", "connect"]
