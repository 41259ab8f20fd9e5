"""Proves an environment without a model: its solutions must reach the top score, and doing nothing must not pass.

Each task is run twice with the oracle and twice with noop; the same must happen both times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rollout.check.rulebook import rule
from rollout.diagnostics import Diagnostic
from rollout.engine import Failure, Outcome, Rollout, Verdict, roll_out
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import MOST_TOOL_CALLS, EnvironmentWorkflow
from rollout.environment import Environment, Task
from rollout.models import AnyModel, connect
from rollout.source.document import Document
from rollout.source.place import Problem, Route
from rollout.templates import TemplateError


@dataclass(frozen=True, slots=True)
class Defect:
    """What keeps an environment from being proved: the rule, where it is to be mended, and the facts for its words."""

    slug: str
    route: Route
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Proof:
    """What proving an environment came to; it is proved when there is no defect. ``tasks`` is how many were tried."""

    slug: str
    tasks: int
    defects: tuple[Defect, ...]

    @property
    def holds(self) -> bool:
        """Whether the environment is proved."""
        return not self.defects


async def prove(environment: Environment) -> Proof:
    """Proves all tasks of an environment; never raises for what is wrong with it."""
    tasks = environment.tasks
    if not tasks:
        defect = Defect("not-provable", ("tasks",), {"why": "It has no tasks, so there is nothing to prove."})
        return Proof(environment.slug, 0, (defect,))
    longest = max((len(task.solution) for task in tasks if task.solution), default=0)
    try:
        # A solution is the author's, and is not cut short by what a model is allowed.
        workflow = EnvironmentWorkflow(environment, max_tool_calls=max(MOST_TOOL_CALLS, longest))
    except TemplateError as error:
        return Proof(environment.slug, 0, (Defect("not-provable", ("template",), {"why": str(error)}),))
    grader = VerifierGrader(environment)
    oracle, noop = connect("oracle"), connect("noop")
    defects: list[Defect] = []
    for index, task in enumerate(tasks):
        played = await _twice(workflow, grader, task, oracle)
        idle = await _twice(workflow, grader, task, noop)
        defects.extend(_defects(environment, workflow, index, task, played, idle))
    return Proof(environment.slug, len(tasks), tuple(_each_once(defects, len(tasks))))


async def _twice(
    workflow: EnvironmentWorkflow, grader: VerifierGrader, task: Task, model: AnyModel
) -> tuple[Rollout, Rollout]:
    return await roll_out(workflow, grader, task, model), await roll_out(workflow, grader, task, model)


def _defects(
    environment: Environment,
    workflow: EnvironmentWorkflow,
    index: int,
    task: Task,
    played: tuple[Rollout, Rollout],
    idle: tuple[Rollout, Rollout],
) -> Iterator[Defect]:
    home: Route = ("tasks", index)
    solution: Route = home if task.solution is None else (*home, "solution")
    verdict = played[0].verdict
    has_script = workflow.solve(task) is not None
    if not has_script:
        yield Defect(
            "no-solution", home, {"task": task.key, "has_ground_truth": bool(task.hidden_ground_truth)}
        )
    unjudged: dict[Failure, Defect] = {}
    for model, rollout, route in (("oracle", played[0], solution), ("noop", idle[0], home)):
        failure = rollout.verdict.failure
        # Without a solution, what the task lacks has been said.
        if failure is None or (not has_script and (model == "oracle" or failure.charged_to != "verifier")):
            continue
        # The same fault of a task shows in both of its rollouts.
        unjudged.setdefault(failure, _unjudged(environment, task, model, rollout, failure, route))
    yield from unjudged.values()
    if has_script and verdict.failure is None and (verdict.score is None or verdict.score < 1.0):
        facts = _facts(verdict, played[0]) | {"is_written": task.solution is not None}
        yield Defect("oracle-falls-short", solution, {"task": task.key, **facts})
    if idle[0].verdict.outcome is Outcome.PASSED:
        yield Defect("noop-passes", home, {"task": task.key, **_facts(idle[0].verdict, idle[0])})
    for name, (first, second) in (("oracle", played), ("noop", idle)):
        if first.trace != second.trace or first.verdict != second.verdict:
            yield Defect("unstable-trace", home, {"task": task.key, "model": name})


def _unjudged(
    environment: Environment, task: Task, model: str, rollout: Rollout, failure: Failure, home: Route
) -> Defect:
    """The defect of a rollout without a grade: at the primitive that could not judge, or at the task."""
    facts = {
        "tasks": [task.key],
        "model": model,
        "charged_to": failure.charged_to,
        "failure": failure.sentence,
        "primitive": None,
    }
    if failure.charged_to != "verifier" or environment.verifier is None:
        return Defect("cannot-judge", home, facts)
    for index, mark in enumerate(rollout.verdict.marks):
        if mark.failure is failure:
            return Defect("cannot-judge", ("verifier", "primitives", index), facts | {"primitive": mark.name})
    return Defect("cannot-judge", ("verifier",), facts)


def _each_once(defects: list[Defect], of: int) -> Iterator[Defect]:
    """``defects``, with what is wrong with the verifier told once and not for every task."""
    told: dict[Route, Defect] = {}
    for defect in defects:
        if defect.slug != "cannot-judge":
            yield defect
        elif (first := told.get(defect.route)) is None:
            told[defect.route] = defect
            defect.facts["of"] = of
            yield defect
        elif (task := defect.facts["tasks"][0]) not in first.facts["tasks"]:
            first.facts["tasks"].append(task)


def _facts(verdict: Verdict, rollout: Rollout) -> dict[str, Any]:
    errors = [f"{call.tool}: {call.error}" for call in rollout.trace.calls if call.error is not None]
    return {
        "outcome": str(verdict.outcome),
        "score": verdict.score,
        "errors": errors,
        "marks": [(mark.name, mark.value, mark.reason) for mark in verdict.marks],
    }


def diagnose(document: Document, proof: Proof) -> list[Diagnostic]:
    """The defects of a proof with their places in the environment's files and their rules' words, in reading order."""
    found = [_diagnostic(document, defect) for defect in proof.defects]
    return sorted(found, key=lambda diagnostic: diagnostic.sort_key)


def _diagnostic(document: Document, defect: Defect) -> Diagnostic:
    known = rule(defect.slug)
    assert known.describe is not None
    span = document.span(defect.route)
    message, hint = known.describe(Problem(defect.slug, span, defect.facts | {"label": document.label}))
    return Diagnostic(known.code, known.slug, known.severity, message, span, hint)


__all__ = ["Defect", "Proof", "diagnose", "prove"]
