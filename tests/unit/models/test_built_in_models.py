"""Finding a model by its id, and the two that run on this machine."""

from __future__ import annotations

import asyncio
import json
from dataclasses import fields
from typing import Any

import pytest

from rollout.environment import Task
from rollout.models import (
    ModelError,
    Request,
    RolloutKey,
    Sampling,
    Turn,
    UnknownModelError,
    Usage,
    ask,
    connect,
)


def respond(model_id: str, script: list[dict[str, Any]] | None, turns_before: int = 0) -> Turn:
    messages = [{"role": "user", "content": "Do it."}]
    messages += [{"role": "assistant", "content": ""}] * turns_before
    request = Request(messages, (), Sampling(), RolloutKey("desk", "t"))
    return asyncio.run(ask(connect(model_id), request, task=Task("Do it."), solve=lambda: script))


SCRIPT = [{"tool": "refund", "args": {"id": "O-1", "n": 2.0}}, {"tool": "list"}, {"answer": {"total": 1}}]


def test_the_oracle_plays_one_step_a_turn_and_then_is_silent() -> None:
    turns = [respond("oracle", SCRIPT, number) for number in range(4)]
    calls = [(call.tool, json.loads(call.arguments)) for turn in turns for call in turn.calls]
    assert calls == [("refund", {"id": "O-1", "n": 2.0}), ("list", {})]
    assert [turn.text for turn in turns] == ["", "", '{"total":1}', ""]


def test_the_oracle_charges_a_task_without_a_solution_to_the_environment() -> None:
    with pytest.raises(ModelError, match="no solution") as caught:
        respond("oracle", None)
    assert caught.value.charged_to == "environment"


@pytest.mark.parametrize(
    "step", [{"args": {}}, "refund", None, {"tool": 3}, {"tool": "a", "args": {"x": "\ud800"}}]
)
def test_the_oracle_charges_a_step_that_cannot_be_played_to_the_environment(step: Any) -> None:
    with pytest.raises(ModelError, match="Step 1 of the solution cannot be played") as caught:
        respond("oracle", [step])
    assert caught.value.charged_to == "environment"


def test_noop_says_and_calls_nothing() -> None:
    assert respond("noop", SCRIPT) == Turn()


@pytest.mark.parametrize("model_id", ["", "oracl", "../engine/loop", "/", "a/", "_private", "budget"])
def test_an_unknown_model_is_refused_with_what_there_is(model_id: str) -> None:
    with pytest.raises(UnknownModelError, match="There is no model") as caught:
        connect(model_id)
    assert "noop, oracle" in caught.value.hint


def test_usage_adds_up_and_a_price_that_is_not_known_stays_unknown() -> None:
    assert Usage(1, 2) + Usage(3, 4) == Usage(4, 6, None)
    assert Usage(1, 2, 0.5, 1, 2) + Usage(1, 1, 0.25, 1, 0) == Usage(2, 3, 0.75, 2, 2)
    assert Usage(1, 2, 0.5) + Usage(1, 1) == Usage(2, 3, None)
    assert Usage(1, 2, 0.5) + Usage() == Usage() + Usage(1, 2, 0.5) == Usage(1, 2, 0.5)
    assert (Usage(1, 2, 0.5) + Usage(unmetered=1)).cost is None


class Outsider:
    """A model that is sent elsewhere, and remembers what it was asked."""

    id = "outsider"
    seen: Request | None = None

    async def respond(self, request: Request) -> Turn:
        self.seen = request
        return Turn("Done.")

    async def close(self) -> None: ...


def test_a_model_that_is_no_insider_is_asked_with_nothing_that_holds_the_truth() -> None:
    model = Outsider()
    request = Request((), (), Sampling(), RolloutKey("desk", "t"))
    asyncio.run(ask(model, request, task=Task("Do it.", {"secret": 42}), solve=lambda: SCRIPT))
    assert model.seen is not None
    assert {field.name for field in fields(model.seen)} == {"messages", "tools", "sampling", "key"}
    assert not hasattr(model.seen, "task")
    assert not hasattr(model.seen, "solve")
