"""The panel makes wrong runs that are wrong, the same at any concurrency, each in a world of its own."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from rollout.check import check
from rollout.check.rulebook import rule
from rollout.diagnostics import Span
from rollout.engine import panel as panel_module
from rollout.engine.panel import MEMBERS
from rollout.engine.prove import Defect, Proof, prove
from rollout.environment import Environment, Task
from rollout.source import read
from rollout.source.place import Problem
from rollout.templates._declared import DeclaredStage, DeclaredWorld

ROOT = Path(__file__).parents[3]
PROOFS = ROOT / "tests" / "cases" / "proofs"


def desk(*primitives: dict[str, Any], threshold: float = 1.0, **task: Any) -> Environment:
    """Two refunds of different orders, judged by these primitives."""
    tools = [
        {"name": "get_order", "kind": "lookup", "fixturePath": "orders.${args.id}"},
        {"name": "refund", "kind": "action", "stateArray": "refunds"},
    ]
    environment = Environment(
        "desk",
        "Desk",
        "workflow",
        config={
            "tools": tools,
            "fixtures": {"orders": {"O-1": {"amount": 5}, "O-2": {"amount": 8}}},
            "initialMutableState": {"refunds": []},
        },
        verifier={"primitives": list(primitives), "passThreshold": threshold} if primitives else None,
    )
    for order in ("O-1", "O-2"):
        truth = {"refunds": [{"id": order, "amount": 5}]}
        solution = [
            {"tool": "get_order", "args": {"id": order}},
            {"tool": "refund", "args": {"id": order, "amount": 5}},
            {"answer": f"{order} is refunded."},
        ]
        environment.tasks.append(Task(f"Refund {order}.", truth, id=order, solution=solution, **task))
    return environment


def results(proof: Proof, task: int = 0) -> dict[str, str]:
    return {bout.member: bout.result for bout in proof.panel[task].bouts}


def read_environment(path: Path) -> Environment:
    [document] = read(path)
    return check(document).environment()


CALLED = {"name": "called", "type": "tool_was_called", "tool": "refund"}
OUTCOME = {"name": "outcome", "type": "ground_truth_match"}
SAID = {"name": "said", "type": "contains_terms", "terms": ["refunded"]}


def test_an_environment_that_compares_the_state_lets_none_of_them_pass() -> None:
    proof = asyncio.run(prove(desk()))
    assert proof.defects == ()
    assert results(proof) == {
        "do-nothing": "caught",
        "says-truth": "caught",
        "says-everything": "not_wrong",
        "every-tool": "caught",
        "repeats-call": "caught",
        "wrong-arguments": "caught",
        "says-nearly": "not_wrong",
        "does-more": "caught",
        "forges-tests": "not_wrong",
    }


@pytest.mark.parametrize(
    ("primitives", "passing"),
    [
        ((SAID,), ("says-truth", "repeats-call", "wrong-arguments", "does-more")),
        ((CALLED,), ("every-tool", "repeats-call", "wrong-arguments", "does-more")),
        (
            ({"name": "first", "type": "state_match", "expected": {"refunds[0].amount": 5}},),
            ("every-tool", "repeats-call", "wrong-arguments", "does-more"),
        ),
        (({**OUTCOME, "subset": True},), ("repeats-call", "does-more")),
        (
            (
                {"name": "one", "type": "state_match", "expected": {"refunds.length": 1}},
                {"name": "five", "type": "state_match", "expected": {"refunds[0].amount": 5}},
            ),
            ("every-tool", "wrong-arguments"),
        ),
    ],
)
def test_each_weakness_is_found_by_those_who_use_it(primitives: Any, passing: tuple[str, ...]) -> None:
    proof = asyncio.run(prove(desk(*primitives)))
    assert not proof.holds
    assert proof.passing == passing


@pytest.mark.parametrize("path", ["false-pass/bad_every_tool", "loose-verifier/bad_says_everything"])
def test_a_proof_is_the_same_at_any_concurrency(path: str) -> None:
    environment = read_environment(PROOFS / path)
    environment.tasks = [
        Task(task.instruction, task.hidden_ground_truth, id=f"{task.id}-{number}", solution=task.solution)
        for number in range(4)
        for task in environment.tasks
    ]
    one, many = (asyncio.run(prove(environment, concurrency=many)) for many in (1, 7))
    assert one.defects == many.defects
    assert one.panel == many.panel
    assert [each.task for each in many.panel] == [task.key for task in environment.tasks]


def test_tasks_are_proved_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    under_way: list[str] = []
    all_there = asyncio.Event()
    environment = desk(OUTCOME)
    close = DeclaredWorld.close

    async def wait_for_all(world: DeclaredWorld) -> None:
        if not all_there.is_set():
            under_way.append("here")
            if len(under_way) == len(environment.tasks):
                all_there.set()
            await all_there.wait()
        await close(world)

    monkeypatch.setattr(DeclaredWorld, "close", wait_for_all)
    proof = asyncio.run(asyncio.wait_for(prove(environment, concurrency=2), 60))
    assert proof.holds


def test_every_run_has_a_world_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[DeclaredWorld] = []
    closed: list[DeclaredWorld] = []
    make, close = DeclaredStage.open, DeclaredWorld.close

    def open_one(stage: DeclaredStage, task: Task) -> DeclaredWorld:
        opened.append(make(stage, task))
        return opened[-1]

    async def close_one(world: DeclaredWorld) -> None:
        closed.append(world)
        await close(world)

    monkeypatch.setattr(DeclaredStage, "open", open_one)
    monkeypatch.setattr(DeclaredWorld, "close", close_one)
    proof = asyncio.run(prove(desk(OUTCOME)))
    assert len({id(world.now) for world in opened}) == len(opened) > proof.wrong_runs
    assert sorted(map(id, opened)) == sorted(map(id, closed))


def test_a_task_that_is_not_solved_does_not_meet_the_panel() -> None:
    environment = desk(CALLED, OUTCOME)
    environment.tasks[0].solution = [{"tool": "refund", "args": {"id": "O-9"}}]
    proof = asyncio.run(prove(environment))
    assert set(list(results(proof, 0).values())[1:]) == {"not_tried"}
    assert "not_tried" not in results(proof, 1).values()


def words(defect: Defect, **facts: Any) -> tuple[str, str | None]:
    describe = rule(defect.slug).describe
    assert describe is not None
    told = defect.facts | {"label": "envs/desk"} | facts
    return describe(Problem(defect.slug, Span("tasks.jsonl", 1, 1, 1, 2), told))


def test_a_run_that_takes_too_long_is_no_pass(monkeypatch: pytest.MonkeyPatch) -> None:
    call = DeclaredWorld.call

    async def stuck_when_repeated(world: DeclaredWorld, name: str, args: Any) -> Any:
        if name == "refund" and world.now["refunds"]:
            await asyncio.Event().wait()
        return await call(world, name, args)

    monkeypatch.setattr(panel_module, "SECONDS", 0.05)
    monkeypatch.setattr(DeclaredWorld, "call", stuck_when_repeated)
    environment = desk(CALLED, OUTCOME)
    proof = asyncio.run(prove(environment))
    assert results(proof)["repeats-call"] == "not_judged"
    [repeats] = [bout for bout in proof.panel[0].bouts if bout.member == "repeats-call"]
    assert [step.get("tool") for step in repeats.steps or ()] == ["get_order", "refund", "refund", None]
    found = [defect for defect in proof.defects if defect.slug == "cannot-judge"]
    assert not proof.holds and [defect.route for defect in found] == [("tasks", 0), ("tasks", 1)]
    message, hint = words(found[0])
    assert message == (
        "An agent that makes a right call twice in “O-1” cannot be judged. The 0.05 seconds for a rollout are over; "
        "its tool “refund” had not answered."
    )
    assert hint == "“rollout prove --json” shows what it did."


def test_a_threshold_that_forgives_is_told_as_a_warning() -> None:
    called_right = {
        "name": "right order",
        "type": "tool_called_with",
        "tool": "refund",
        "args": {"id": "O-1"},
    }
    environment = desk({**called_right, "weight": 3}, OUTCOME, threshold=0.75)
    environment.tasks = environment.tasks[:1]
    proof = asyncio.run(prove(environment))
    [defect] = proof.defects
    assert proof.holds and defect.slug == "loose-verifier"
    assert (
        words(defect)[1]
        == "“outcome” caught it, but weighs too little for a passThreshold of 0.75: raise either."
    )


def test_other_right_arguments_than_the_ground_truth_has_may_be_known_to_a_verifier() -> None:
    choices = {"tool": "refund", "args": {"id": "O-1"}, "anyOf": {"amount": [5, 6]}}
    environment = desk({"name": "calls", "type": "calls_match", "calls": [choices]})
    environment.tasks = environment.tasks[:1]
    proof = asyncio.run(prove(environment))
    told = {defect.facts["member"]: defect.slug for defect in proof.defects}
    assert told == {"repeats-call": "false-pass"}
    forbidding = {"name": "calls", "type": "calls_match", "calls": [choices], "extra": "allow"}
    environment.verifier = {"primitives": [forbidding, {"name": "n", "type": "tool_call_count", "max": 2}]}
    proof = asyncio.run(prove(environment))
    assert {defect.facts["member"]: defect.slug for defect in proof.defects} == {
        "wrong-arguments": "loose-verifier"
    }


def test_a_tool_of_the_author_s_may_have_the_name_of_a_built_in_one() -> None:
    environment = desk({**OUTCOME, "subset": True})
    assert environment.config is not None
    environment.config["tools"][1]["name"] = "run_command"
    for task in environment.tasks:
        assert task.solution is not None
        task.solution[1]["tool"] = "run_command"
    proof = asyncio.run(prove(environment))
    assert proof.passing == ("repeats-call", "does-more")


def test_a_value_that_ends_in_a_raised_digit_is_proved_as_any_other() -> None:
    environment = desk()
    environment.tasks = environment.tasks[:1]
    environment.tasks[0].hidden_ground_truth = {"refunds": [{"unit": "m²"}]}
    environment.tasks[0].solution = [{"tool": "refund", "args": {"unit": "m²"}}]
    proof = asyncio.run(prove(environment))
    assert proof.defects == ()
    assert results(proof)["wrong-arguments"] == "caught"


def test_a_call_that_comes_to_no_tool_hides_none_that_follows() -> None:
    environment = desk({**OUTCOME, "subset": True})
    for task in environment.tasks:
        assert task.solution is not None
        task.solution.insert(0, {"tool": "nothing"})
    proof = asyncio.run(prove(environment))
    assert proof.passing == ("repeats-call", "does-more")


@pytest.mark.parametrize("args", [["O-1"], {"id": "O-1", "amount": 5}])
def test_a_call_that_no_tool_takes_is_no_right_one(args: Any) -> None:
    environment = desk(OUTCOME)
    assert environment.tasks[0].solution is not None
    environment.tasks[0].solution.insert(0, {"tool": "refunds", "args": args})
    environment.tasks[0].solution.insert(0, {"tool": "get_order", "args": ["O-1"]})
    proof = asyncio.run(prove(environment))
    assert proof.holds
    assert results(proof)["wrong-arguments"] == "caught"


@pytest.mark.parametrize("broken", [{}, {"args": {"path": ["a.txt"], "content": ""}}, {"args": ["a.txt"]}])
def test_a_write_that_names_no_file_is_left_as_it_is(broken: dict[str, Any]) -> None:
    environment = Environment(
        "files", "Files", "code-editing", config={"files": {"a.txt": "1\n", "b.txt": "1\n"}}
    )
    environment.verifier = {"primitives": [{"name": "files", "type": "files_match"}]}
    right = {"tool": "write_file", "args": {"path": "a.txt", "content": "2\n"}}
    beside = {"tool": "write_file", "args": {"path": "b.txt", "content": "2\n"}}
    solution = [{"tool": "write_file", **broken}, right, beside]
    environment.tasks.append(Task("Write 2.", {"files": {"a.txt": "2\n"}}, id="two", solution=solution))
    proof = asyncio.run(prove(environment))
    assert results(proof)["wrong-arguments"] == "passed"
    [bout] = [bout for bout in proof.panel[0].bouts if bout.member == "wrong-arguments"]
    emptied = {"tool": "write_file", "args": {"path": "b.txt", "content": ""}}
    assert bout.steps == [{"tool": "write_file", **broken}, right, emptied]


def test_no_world_is_opened_for_which_calls_write_files(monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*asked: Any) -> list[int]:
        raise AssertionError("which calls act is not asked of files")

    monkeypatch.setattr(panel_module.Panel, "_acting", never)
    proof = asyncio.run(prove(read_environment(PROOFS / "false-pass" / "good_files")))
    assert proof.holds


def test_the_members_are_told_in_one_order_everywhere() -> None:
    proof = asyncio.run(prove(desk(SAID)))
    assert all(tuple(bout.member for bout in each.bouts) == MEMBERS for each in proof.panel)
    [defect] = proof.defects
    assert (defect.facts["member"], defect.facts["others"]) == (
        "says-truth",
        ["repeats-call", "wrong-arguments", "does-more"],
    )
    assert defect.facts["tasks"] == ["O-1", "O-2"]
    assert defect.route == ("verifier", "primitives", 0)


@pytest.mark.parametrize("step", ["refund", {"tool": "refund", "args": ["O-1"]}, {"args": {}}, {"tool": 7}])
def test_a_solution_that_cannot_be_played_is_told_and_breaks_nothing(step: Any) -> None:
    environment = desk(SAID)
    environment.tasks[0].solution = [step]
    proof = asyncio.run(prove(environment))
    assert not proof.holds
    assert results(proof, 0)["says-truth"] == "not_tried"
    assert [defect.slug for defect in proof.defects if defect.route[:2] == ("tasks", 0)] != []


LOOKED = {"name": "looked", "type": "tool_was_called", "tool": "get_order"}


def contradictions(environment: Environment) -> list[str]:
    return [
        defect.facts["difference"]
        for defect in asyncio.run(prove(environment)).defects
        if defect.slug == "unreached-ground-truth"
    ]


def test_a_ground_truth_that_the_solution_does_not_reach_is_told_where_nothing_reads_it() -> None:
    environment = desk(LOOKED)
    environment.tasks = environment.tasks[:1]
    environment.tasks[0].solution = [{"tool": "get_order", "args": {"id": "O-1"}}]
    assert len(contradictions(environment)) == 1
    function = {"name": "code", "type": "python", "function": "grade.py:grade"}
    environment.verifier = {"primitives": [LOOKED, {**function, "weight": 0}]}
    assert contradictions(environment) == []


@pytest.mark.parametrize(("threshold", "slug"), [(0.44, "false-pass"), (0.6, "loose-verifier")])
def test_a_threshold_forgives_only_what_it_does_not_leave_out(threshold: float, slug: str) -> None:
    environment = desk(OUTCOME, {**SAID, "weight": 0.5}, {**CALLED, "weight": 1.2}, threshold=threshold)
    environment.tasks = environment.tasks[:1]
    proof = asyncio.run(prove(environment))
    [repeats] = [bout for bout in proof.panel[0].bouts if bout.member == "repeats-call"]
    assert repeats.shortfall is not None
    assert repeats.shortfall.certain == (slug == "false-pass")


def test_what_the_solution_changes_itself_may_change_further() -> None:
    environment = desk({**OUTCOME, "subset": True}, {"name": "n", "type": "tool_call_count", "max": 3})
    environment.tasks = environment.tasks[:1]
    assert environment.config is not None
    environment.config["initialMutableState"]["log"] = []
    environment.config["tools"].append({"name": "note", "kind": "action", "stateArray": "log"})
    assert results(asyncio.run(prove(environment)))["does-more"] == "passed"
    assert environment.tasks[0].solution is not None
    environment.tasks[0].solution.insert(0, {"tool": "note", "args": {"text": "looked"}})
    environment.verifier = {
        "primitives": [{**OUTCOME, "subset": True}, {**CALLED, "args": {"id": "O-1", "amount": 5}}]
    }
    [more] = [bout for bout in asyncio.run(prove(environment)).panel[0].bouts if bout.member == "does-more"]
    assert more.shortfall is not None and "“log”" not in more.shortfall.sentence
