"""Proves an environment without a model: its solutions must reach the top score, and doing nothing must not pass.

Each task is run twice with the oracle and twice with noop; the same must happen both times.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rollout.check.rulebook import rule
from rollout.diagnostics import Diagnostic
from rollout.engine import Outcome, Rollout, Verdict, roll_out
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import MOST_TOOL_CALLS, EnvironmentWorkflow
from rollout.environment import Environment, Task
from rollout.models import AnyModel, connect
from rollout.source.document import Document
from rollout.source.place import Problem, Route
from rollout.templates import TemplateError

_TOP = 1.0 - 1e-9


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
        defects.extend(_defects(workflow, index, task, played, idle))
    return Proof(environment.slug, len(tasks), tuple(defects))


async def _twice(
    workflow: EnvironmentWorkflow, grader: VerifierGrader, task: Task, model: AnyModel
) -> tuple[Rollout, Rollout]:
    return await roll_out(workflow, grader, task, model), await roll_out(workflow, grader, task, model)


def _defects(
    workflow: EnvironmentWorkflow,
    index: int,
    task: Task,
    played: tuple[Rollout, Rollout],
    idle: tuple[Rollout, Rollout],
) -> Iterator[Defect]:
    home: Route = ("tasks", index)
    verdict = played[0].verdict
    if workflow.solve(task) is None:
        yield Defect(
            "no-solution", home, {"task": task.key, "has_ground_truth": bool(task.hidden_ground_truth)}
        )
    elif verdict.outcome is not Outcome.PASSED or verdict.score is None or verdict.score < _TOP:
        route: Route = home if task.solution is None else (*home, "solution")
        yield Defect("oracle-falls-short", route, {"task": task.key, **_facts(verdict, played[0])})
    if idle[0].verdict.outcome is Outcome.PASSED:
        yield Defect("noop-passes", home, {"task": task.key, **_facts(idle[0].verdict, idle[0])})
    for name, (first, second) in (("oracle", played), ("noop", idle)):
        if first.trace != second.trace or first.verdict != second.verdict:
            yield Defect("unstable-trace", home, {"task": task.key, "model": name})


def _facts(verdict: Verdict, rollout: Rollout) -> dict[str, Any]:
    errors = [f"{call.tool}: {call.error}" for call in rollout.trace.calls if call.error is not None]
    return {
        "outcome": str(verdict.outcome),
        "score": verdict.score,
        "failure": verdict.failure.sentence if verdict.failure is not None else None,
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
    message, hint = known.describe(Problem(defect.slug, span, defect.facts))
    return Diagnostic(known.code, known.slug, known.severity, message, span, hint)


__all__ = ["Defect", "Proof", "diagnose", "prove"]
