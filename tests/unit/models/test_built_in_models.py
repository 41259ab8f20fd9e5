"""Finding a model by its id, and the two that run on this machine."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from rollout.environment import Task
from rollout.models import ModelError, Request, Sampling, Turn, UnknownModelError, Usage, connect


def asked(script: list[dict[str, Any]] | None, turns_before: int = 0) -> Request:
    messages = [{"role": "user", "content": "Do it."}]
    messages += [{"role": "assistant", "content": ""}] * turns_before
    return Request(messages, (), Sampling(), Task("Do it."), lambda: script)


def respond(model_id: str, request: Request) -> Turn:
    return asyncio.run(connect(model_id).respond(request))


SCRIPT = [{"tool": "refund", "args": {"id": "O-1", "n": 2.0}}, {"tool": "list"}, {"answer": {"total": 1}}]


def test_the_oracle_plays_one_step_a_turn_and_then_is_silent() -> None:
    turns = [respond("oracle", asked(SCRIPT, number)) for number in range(4)]
    calls = [(call.tool, json.loads(call.arguments)) for turn in turns for call in turn.calls]
    assert calls == [("refund", {"id": "O-1", "n": 2.0}), ("list", {})]
    assert [turn.text for turn in turns] == ["", "", '{"total":1}', ""]


def test_the_oracle_charges_a_task_without_a_solution_to_the_environment() -> None:
    with pytest.raises(ModelError, match="no solution") as caught:
        respond("oracle", asked(None))
    assert caught.value.charged_to == "environment"


@pytest.mark.parametrize(
    "step", [{"args": {}}, "refund", None, {"tool": 3}, {"tool": "a", "args": {"x": "\ud800"}}]
)
def test_the_oracle_charges_a_step_that_cannot_be_played_to_the_environment(step: Any) -> None:
    with pytest.raises(ModelError, match="Step 1 of the solution cannot be played") as caught:
        respond("oracle", asked([step]))
    assert caught.value.charged_to == "environment"


def test_noop_says_and_calls_nothing() -> None:
    assert respond("noop", asked(SCRIPT)) == Turn()


@pytest.mark.parametrize("model_id", ["", "oracl", "openai/gpt-4o", "../engine/loop", "/", "_private"])
def test_an_unknown_model_is_refused_with_what_there_is(model_id: str) -> None:
    with pytest.raises(UnknownModelError, match="There is no model") as caught:
        connect(model_id)
    assert "noop, oracle" in caught.value.hint


def test_usage_adds_up_and_a_price_that_is_not_known_stays_unknown() -> None:
    assert Usage(1, 2) + Usage(3, 4) == Usage(4, 6, None)
    assert Usage(1, 2, 0.5) + Usage(1, 1) == Usage(2, 3, 0.5)
