"""The proof of an environment finds what no declared environment can show: a world that is not stable."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Mapping
from itertools import count
from typing import Any

import pytest

from rollout.check.rulebook import rule
from rollout.diagnostics import Span
from rollout.engine.panel import MEMBERS, Bout, Panel
from rollout.engine.prove import Defect, prove
from rollout.environment import Environment, Task
from rollout.source.place import Problem
from rollout.templates._declared import DeclaredWorld
from rollout.verifiers import CannotJudgeError, Case, Judgement, no_tool_errors


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


def test_a_rollout_that_could_not_be_judged_the_second_time_is_told_as_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judge, numbers = no_tool_errors.judge, count()

    def at_times(case: Case, options: Mapping[str, Any]) -> Judgement:
        if next(numbers) % 2:
            raise CannotJudgeError("It took longer than 1 seconds.")
        return judge(case, options)

    monkeypatch.setattr(no_tool_errors, "judge", at_times)
    desk = environment(solution=[{"tool": "refund", "args": {"id": "O-1"}}])
    desk.verifier = {"primitives": [{"name": "clean", "type": "no_tool_errors"}]}
    told = [defect.slug for defect in asyncio.run(prove(desk)).defects]
    assert "cannot-judge" in told
    assert "unstable-trace" not in told


def words(defect: Defect) -> tuple[str, str | None]:
    describe = rule(defect.slug).describe
    assert describe is not None
    facts = defect.facts | {"label": "envs/my desk"}
    return describe(Problem(defect.slug, Span("tasks.jsonl", 1, 1, 1, 2), facts))


def judged_by(*primitives: dict[str, Any]) -> Environment:
    desk = environment(id="first")
    desk.verifier = {"primitives": list(primitives)}
    desk.tasks.append(Task("Refund O-1 again.", {"refunds": [{"id": "O-1"}]}, id="second"))
    return desk


OUTCOME = {"name": "outcome", "type": "ground_truth_match"}


def test_a_verifier_that_cannot_judge_is_told_once_at_its_primitive() -> None:
    broken = {"name": "kind", "type": "llm_judge", "rubric": "Be kind.", "model": "vendor/model"}
    [defect] = asyncio.run(prove(judged_by(OUTCOME, broken))).defects
    assert (defect.slug, defect.route) == ("cannot-judge", ("verifier", "primitives", 1))
    assert words(defect)[0] == (
        "The primitive “kind” cannot judge any task. “vendor/model” has to judge, and no model is asked here."
    )


def test_what_the_machine_lacks_is_told_once_for_all_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROLLOUT_SANDBOX", "container")
    monkeypatch.setenv("PATH", "")
    tests = {"name": "tests", "type": "command_passes", "command": "python -m pytest -q"}
    tasks = [Task(f"Do {name}.", solution=[{"answer": "Done."}], id=name) for name in ("one", "two", "three")]
    config = {"files": {"a.py": ""}, "commands": {}}
    project = Environment("project", "Project", "code-editing", config=config, tasks=tasks)
    project.verifier = {"primitives": [tests]}
    [defect] = asyncio.run(prove(project)).defects
    assert (defect.slug, defect.facts["tasks"]) == ("cannot-judge", ["one", "two", "three"])
    assert words(defect)[0].startswith("The solutions of “one” and 2 more cannot be judged. ")


def test_a_prover_that_breaks_down_proves_nothing_of_that_task_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    face = Panel.face

    async def break_at_the_second(panel: Panel, task: Task, *given: Any) -> list[Bout]:
        if task.id == "second":
            raise KeyError("path")
        return await face(panel, task, *given)

    monkeypatch.setattr(Panel, "face", break_at_the_second)
    proof = asyncio.run(prove(judged_by(OUTCOME)))
    [defect] = proof.defects
    assert not proof.holds
    assert (defect.slug, defect.route) == ("cannot-judge", ("tasks", 1))
    assert words(defect) == (
        "“second” cannot be proved. Proving it broke down: KeyError: 'path'.",
        "This is a fault in rollout; please report it with the task.",
    )
    first, second = proof.panel
    assert "not_judged" not in {bout.result for bout in first.bouts}
    assert [(bout.member, bout.result) for bout in second.bouts] == [
        (member, "not_judged") for member in MEMBERS
    ]


@pytest.mark.parametrize(
    "task",
    [
        {"solution": [{"tool": "refund", "args": {"id": math.nan}}]},
        {"solution": [{"answer": "half \ud800"}]},
        {"solution": 7},
    ],
)
def test_what_is_no_json_is_not_proved_and_raises_nothing(task: dict[str, Any]) -> None:
    desk = environment(**task)
    proof = asyncio.run(prove(desk))
    [defect] = proof.defects
    assert not proof.holds
    assert (defect.slug, defect.route) == ("not-provable", ("tasks",))
    assert words(defect)[0].startswith(
        "The environment cannot be proved here. Its tasks cannot be made ready: "
    )


def test_a_verifier_that_cannot_judge_as_a_whole_is_told_once() -> None:
    [defect] = asyncio.run(prove(judged_by({**OUTCOME, "weight": 0}))).defects
    assert (defect.slug, defect.route) == ("cannot-judge", ("verifier",))
    assert words(defect)[0].startswith("The verifier cannot judge any task. No primitive")


def test_what_a_task_lacks_is_told_at_that_task_and_once() -> None:
    desk = judged_by(OUTCOME, {"name": "said", "type": "answer_match", "weight": 0})
    desk.tasks[1].hidden_ground_truth = {"refunds": [{"id": "O-1"}], "answer": "Done."}
    desk.tasks[1].solution = [{"tool": "refund", "args": {"id": "O-1"}}]
    defects = asyncio.run(prove(desk)).defects
    assert ("cannot-judge", ("tasks", 0)) in [(defect.slug, defect.route) for defect in defects]
    [defect] = [each for each in defects if each.slug == "cannot-judge"]
    assert words(defect)[1] == "“rollout test 'envs/my desk' --model oracle --task first” shows it all."


@pytest.mark.parametrize(
    ("weight", "shown"), [(1, "0.5"), (2, "0.67"), (199, "0.99"), (399, "0.998"), (99_999, "0.99999")]
)
def test_a_score_just_below_1_is_never_shown_as_1(weight: int, shown: str) -> None:
    called = {"name": "called", "type": "tool_was_called", "tool": "look_up"}
    defect = asyncio.run(prove(judged_by({**OUTCOME, "weight": weight}, called))).defects[0]
    message, hint = words(defect)
    assert f"worked out for “first” reaches a score of {shown}, not 1." in message
    assert hint is not None and hint.endswith("add a “solution” to the task.")


@pytest.mark.parametrize("counts", [True, False])
def test_a_call_that_fails_is_to_be_mended_only_where_a_primitive_looks_at_errors(counts: bool) -> None:
    desk = judged_by(OUTCOME, *([{"name": "clean", "type": "no_tool_errors"}] if counts else []))
    missing = {"name": "get_order", "kind": "lookup", "fixturePath": "orders.${args.id}"}
    desk.config = {**desk.config, "tools": [*desk.config["tools"], missing], "fixtures": {"orders": {}}}
    desk.tasks[0].solution = [
        {"tool": "get_order", "args": {"id": "O-9"}},
        {"tool": "refund", "args": {"id": "O-1" if counts else "O-2"}},
    ]
    hint = words(asyncio.run(prove(desk)).defects[0])[1]
    if counts:
        assert hint == (
            "Mend the call that fails first, or take the primitive “clean” out, where a call may fail. "
            "It is get_order: There is no “orders.O-9”."
        )
    else:
        assert hint == (
            "Mend the solution, or the ground truth or the verifier where they ask for something else. "
            "The first call that failed is get_order: There is no “orders.O-9”."
        )


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
