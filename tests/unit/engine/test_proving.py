"""The proof of an environment finds what no declared environment can show: a world that is not stable."""

from __future__ import annotations

import asyncio
from itertools import count
from typing import Any

import pytest

from rollout.check.rulebook import rule
from rollout.diagnostics import Span
from rollout.engine.prove import prove
from rollout.environment import Environment, Task
from rollout.source.place import Problem
from rollout.templates._declared import DeclaredWorld


def environment(**task: Any) -> Environment:
    return Environment(
        "desk",
        "Desk",
        "workflow",
        config={
            "tools": [{"name": "refund", "kind": "action", "stateArray": "refunds"}],
            "initialMutableState": {"refunds": []},
        },
        tasks=[Task("Refund O-1.", {"refunds": [{"id": "O-1"}]}, **task)],
    )


def test_a_world_that_depends_on_earlier_rollouts_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    numbers, state = count(), DeclaredWorld.state
    monkeypatch.setattr(DeclaredWorld, "state", lambda world: {**state(world), "_": next(numbers)})
    proof = asyncio.run(prove(environment()))
    unstable = [defect for defect in proof.defects if defect.slug == "unstable-trace"]
    assert [defect.facts["model"] for defect in unstable] == ["oracle", "noop"]
    message, hint = rule("unstable-trace").describe(  # type: ignore[misc]
        Problem("unstable-trace", Span("tasks.jsonl", 1, 1, 1, 2), unstable[0].facts)
    )
    assert message.endswith("with oracle did not leave the same trace.")
    assert hint


def test_a_solution_longer_than_a_model_is_allowed_is_played_to_its_end() -> None:
    wasted = [{"tool": "refund", "args": {"id": f"O-{number}"}} for number in range(30)]
    long = environment(solution=wasted)
    long.tasks[0].hidden_ground_truth = {"refunds": [step["args"] for step in wasted]}
    assert asyncio.run(prove(long)).holds


def test_a_solution_is_worked_out_only_where_the_ground_truth_is_certain() -> None:
    assert asyncio.run(prove(environment())).holds
    without = environment()
    without.tasks[0].hidden_ground_truth = {}
    assert [defect.slug for defect in asyncio.run(prove(without)).defects] == ["no-solution"]
