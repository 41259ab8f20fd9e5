"""Custom tools with cases: what cannot be run, what is solved, and what their environment compiles to."""

from __future__ import annotations

import asyncio
import json
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from rollout.check import check
from rollout.compile.diff import diff
from rollout.compile.payload import compile_environment
from rollout.compile.spread import spread
from rollout.environment import Environment, Task
from rollout.source import read_one
from rollout.templates import TemplateError, prepare

REFUND: dict[str, Any] = {
    "name": "refund",
    "paramsSchema": {"order_id": "string", "amount": "number"},
    "vars": {"left": "state.total - size(state.refunds)"},
    "cases": [
        {"when": "args.amount > vars.left", "error": "Only ${vars.left} are left."},
        {"when": "args.order_id == 'O-2'", "mutates": {"path": "odd[]"}, "response": {"odd": True}},
        {"mutates": {"path": "refunds[]", "value": {"of": "${args.order_id}", "amount": "${args.amount}"}}},
    ],
}


def environment(*tools: dict[str, Any], tasks: list[Task] | None = None) -> Environment:
    state = {"total": 100, "refunds": [], "odd": []}
    config = {"tools": list(tools), "initialState": state}
    return Environment(slug="desk", name="Desk", template="custom", config=config, tasks=tasks or [])


@pytest.mark.parametrize(
    ("changed", "why"),
    [
        ({"vars": {"left": "1 +"}}, "“vars.left” of “refund” cannot be read. The condition ends too early."),
        ({"vars": {"left": 1}}, "“vars.left” of “refund” is no text."),
        ({"vars": {"left": "vars.right", "right": "vars.left"}}, "needs itself to be worked out."),
        (
            {"vars": {"left": "vars.a", "a": "vars.b + vars.b", "b": "vars.a"}},
            "“vars.a” of “refund” needs itself",
        ),
        ({"vars": {f"v{n}": "1" for n in range(101)}}, "“refund” has 101 vars; there may be 100."),
        ({"vars": {}}, "“when of case 1” of “refund” uses “vars.left”, which is not declared."),
        ({"vars": []}, "The vars of “refund” are no object."),
        ({"cases": {}}, "The cases of “refund” are no list."),
        ({"cases": ["x"]}, "“case 1” of “refund” is no object."),
        ({"cases": [{"when": True}]}, "“when of case 1” of “refund” is no text."),
        ({"cases": [{"error": 1}]}, "The error of a case of “refund” is no text."),
        (
            {"cases": [{"error": "x", "response": 1}]},
            "“case 1” of “refund” has both a response and an error.",
        ),
        (
            {"cases": [{"response": "${vars.x}"}]},
            "“case 1” of “refund” uses “vars.x”, which is not declared.",
        ),
        ({"cases": [{"mutates": {}}]}, "A change that “refund” makes has no path."),
        ({"cases": [{"error": "${x}"}]}, "Tool “refund” cannot work."),
    ],
)
def test_a_tool_that_cannot_work_is_said_before_any_rollout(changed: dict[str, Any], why: str) -> None:
    with pytest.raises(TemplateError) as caught:
        prepare(environment({**REFUND, **changed}))
    assert why in str(caught.value)


def test_more_vars_than_a_tool_may_have_are_found(tmp_path: Path) -> None:
    def found(count: int) -> list[str]:
        tool = {**REFUND, "vars": {f"v{n}": "1" for n in range(count)}}
        file = tmp_path / "environment.json"
        file.write_text(json.dumps({"name": "Desk", "template": "custom", "config": {"tools": [tool]}}))
        return [each.message for each in check(read_one(file), select={"out-of-range"}).diagnostics]

    assert found(100) == []
    assert found(101) == ["“vars” of tool “refund” has 101 keys; it takes at most 100."]


@pytest.mark.parametrize(
    ("each", "last"), [("vars.v{0} + vars.v{0}", 2.0**99), ("vars.v{0} - vars.v{1}", -1)]
)
def test_as_many_vars_as_there_may_be_can_all_need_those_before_them(each: str, last: float) -> None:
    variables = {f"v{n}": each.format(n - 1, max(n - 2, 0)) for n in range(99, 0, -1)}
    tool = {"name": "count", "vars": {**variables, "v0": "1.0"}, "response": "${vars.v99}"}
    world = prepare(environment(tool)).open(Task(instruction="Count.", hidden_ground_truth={}))
    assert json.loads(asyncio.run(world.call("count", {})).content) == last


def test_an_expected_state_becomes_calls_that_were_tried() -> None:
    stage = prepare(environment(REFUND))
    row = {"of": "O-1", "amount": 40}
    task = Task(instruction="Refund 40 of O-1.", hidden_ground_truth={"refunds": [row]})
    assert stage.solve(task) == [{"tool": "refund", "args": {"order_id": "O-1", "amount": 40}}]


@pytest.mark.parametrize("row", [{"of": "O-1", "amount": 400}, {"of": "O-2", "amount": 1}, {"of": "O-1"}])
def test_a_state_that_no_case_leads_to_is_not_solved(row: dict[str, Any]) -> None:
    task = Task(instruction="Refund.", hidden_ground_truth={"refunds": [row]})
    assert prepare(environment(REFUND)).solve(task) is None


def test_what_one_rollout_changes_no_other_sees() -> None:
    stage = prepare(environment(REFUND))
    task = Task(instruction="Refund.", hidden_ground_truth={})
    first, second = stage.open(task), stage.open(task)
    args = {"order_id": "O-1", "amount": 40}
    asyncio.run(first.call("refund", args))
    args["amount"] = 41
    assert first.state()["refunds"] == [{"of": "O-1", "amount": 40}]
    assert second.state()["refunds"] == []


def test_a_value_that_a_variable_shares_with_the_state_is_copied() -> None:
    tool = {
        "name": "keep",
        "paramsSchema": {},
        "vars": {"all": "state.refunds"},
        "cases": [
            {"mutates": [{"path": "odd[]", "value": "${vars.all}"}, {"path": "refunds[]", "value": 1}]},
        ],
    }
    world = prepare(environment(tool)).open(Task(instruction="Keep.", hidden_ground_truth={}))
    for _ in range(2):
        asyncio.run(world.call("keep", {}))
    assert world.state() == {"total": 100, "refunds": [1, 1], "odd": [[], [1]]}


def test_cases_are_compiled_compared_and_unpacked(tmp_path: Path) -> None:
    task = Task(
        instruction="Refund 40 of O-1.", hidden_ground_truth={"refunds": [{"of": "O-1", "amount": 40}]}
    )
    before = environment(REFUND, tasks=[task])
    compiled = compile_environment(before)
    (tool,) = compiled.environment["config"]["tools"]
    assert list(tool) == ["name", "paramsSchema", "vars", "cases"]
    assert tool["cases"] == REFUND["cases"] and tool["vars"] == REFUND["vars"]
    assert list(tool["cases"][0]) == ["when", "error"]

    changed = deepcopy(REFUND)
    changed["cases"][0]["when"] = "args.amount >= vars.left"
    after = environment(changed, tasks=[task])
    (change,) = diff(before, after).changes
    assert (str(change.effect), change.subject) == ("agent sees", "tool")
    assert change.label.startswith("refund.cases[0]")
    assert compile_environment(after).digest != compiled.digest

    for path, text in spread(json.loads(compiled.data)).items():
        target = tmp_path / "desk" / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
    report = check(read_one(tmp_path / "desk"))
    assert report.ok
    assert compile_environment(report.environment()).data == compiled.data
