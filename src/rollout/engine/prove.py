"""Proves an environment without a model: its solutions must reach the top score, and what is wrong must not pass.

Each task is run twice with the oracle and twice with noop, and the same must happen both times. Where that holds, a
panel of rollouts that do not do what the task asks for is set on it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rollout.check.rulebook import rule
from rollout.diagnostics import Diagnostic, Severity
from rollout.engine import Failure, Outcome, Rollout, Verdict, roll_out
from rollout.engine.asked import Asked
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import MOST_TOOL_CALLS, EnvironmentWorkflow
from rollout.engine.panel import MEMBERS, Bout, Panel
from rollout.environment import Environment, Task
from rollout.models import AnyModel, connect
from rollout.sandbox.commands import telling_line
from rollout.source.document import Document
from rollout.source.place import Problem, Route
from rollout.templates import Script, TemplateError

CONCURRENCY = 8
"""How many tasks are proved at once, unless told otherwise. No more commands run at once than there are processors."""

PROVER = "prover"
"""Who is named in place of a model where no rollout failed, but the proof itself."""


@dataclass(frozen=True, slots=True)
class Defect:
    """What keeps an environment from being proved: the rule, where it is to be mended, and the facts for its words."""

    slug: str
    route: Route
    facts: dict[str, Any]

    @property
    def is_error(self) -> bool:
        """Whether the environment is not proved because of it; else it is a weakness to look at."""
        return rule(self.slug).severity is Severity.ERROR


@dataclass(frozen=True, slots=True)
class TaskProof:
    """What came of the panel's members at one task, in their order."""

    task: str
    bouts: tuple[Bout, ...]


@dataclass(frozen=True, slots=True)
class Proof:
    """What proving an environment came to; it is proved when no defect is an error. ``tasks`` were tried."""

    slug: str
    tasks: int
    defects: tuple[Defect, ...]
    panel: tuple[TaskProof, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the environment is proved."""
        return not any(defect.is_error for defect in self.defects)

    @property
    def passing(self) -> tuple[str, ...]:
        """The members of the panel of which a run passed somewhere, in their order."""
        passed = {bout.member for proof in self.panel for bout in proof.bouts if bout.result == "passed"}
        return tuple(member for member in MEMBERS if member in passed)

    @property
    def wrong_runs(self) -> int:
        """How many wrong runs were judged."""
        return sum(bout.runs for proof in self.panel for bout in proof.bouts)


async def prove(environment: Environment, *, concurrency: int = CONCURRENCY) -> Proof:
    """Proves all tasks of an environment, up to ``concurrency`` of them at once; the result is the same for any number.

    Never raises for what is wrong with the environment; what breaks while a task is proved keeps that task from being
    proved, and no other.
    """
    tasks = environment.tasks
    if not tasks:
        defect = Defect("not-provable", ("tasks",), {"why": "It has no tasks, so there is nothing to prove."})
        return Proof(environment.slug, 0, (defect,))
    try:
        longest = max((len(task.solution) for task in tasks if task.solution), default=0)
        # A solution is the author's, and is not cut short by what a model is allowed.
        workflow = EnvironmentWorkflow(environment, max_tool_calls=max(MOST_TOOL_CALLS, longest))
        prover = _Prover(environment, workflow)
    except TemplateError as error:
        return Proof(environment.slug, 0, (Defect("not-provable", ("template",), {"why": str(error)}),))
    except Exception as error:
        # Only an environment that was not checked can cause it, such as by a value that is no JSON.
        why = f"Its tasks cannot be made ready: {_words(error)}"
        return Proof(environment.slug, 0, (Defect("not-provable", ("tasks",), {"why": why}),))
    found: dict[int, tuple[list[Defect], TaskProof]] = {}
    remaining = iter(range(len(tasks)))

    async def work() -> None:
        for index in remaining:
            found[index] = await prover.prove(index)

    async with asyncio.TaskGroup() as group:
        for _ in range(min(concurrency, len(tasks))):
            group.create_task(work())
    defects = [defect for index in range(len(tasks)) for defect in found[index][0]]
    panel = tuple(found[index][1] for index in range(len(tasks)))
    return Proof(environment.slug, len(tasks), tuple(_each_once(defects, len(tasks))), panel)


class _Prover:
    """What all tasks of an environment are proved with."""

    def __init__(self, environment: Environment, workflow: EnvironmentWorkflow) -> None:
        self.environment = environment
        self.workflow = workflow
        self.grader = VerifierGrader(environment)
        self.oracle, self.noop = connect("oracle"), connect("noop")
        self.scripts: list[Script | None] = [workflow.solve(task) for task in environment.tasks]
        self.panel = Panel(environment, workflow, self.grader, self.scripts)

    async def prove(self, index: int) -> tuple[list[Defect], TaskProof]:
        """The defects of one task, and what came of the panel."""
        try:
            return await self._prove(index)
        except Exception as error:
            # Whatever an environment does is on its rollouts: what comes here is a fault of the prover's.
            return self._broken(index, error)

    async def _prove(self, index: int) -> tuple[list[Defect], TaskProof]:
        task, script = self.environment.tasks[index], self.scripts[index]
        played = await self._twice(task, self.oracle)
        idle = await self._twice(task, self.noop)
        defects = list(self._defects(index, task, played, idle))
        if script is not None and played[0].verdict.score == 1.0:
            defects += self._contradictions(index, task, played[0])
        bouts = [_idle_bout(idle[0])]
        if script is None or defects or played[0].verdict.score != 1.0:
            # What is wrong here would show in every run.
            bouts += [Bout(member, "not_tried") for member in MEMBERS[1:]]
        else:
            bouts += await self.panel.face(task, script, played[0])
            defects += self._panel_defects(index, task, bouts[1:])
        return defects, TaskProof(task.key, tuple(bouts))

    def _broken(self, index: int, error: Exception) -> tuple[list[Defect], TaskProof]:
        """What is told of a task at which the prover itself broke down: nothing is known of it."""
        key = self.environment.tasks[index].key
        failure = Failure(f"Proving it broke down: {_words(error)}", "infrastructure")
        facts = _unjudged_facts(key, PROVER, failure)
        bouts = tuple(Bout(member, "not_judged", failure=failure) for member in MEMBERS)
        return [Defect("cannot-judge", ("tasks", index), facts)], TaskProof(key, bouts)

    async def _twice(self, task: Task, model: AnyModel) -> tuple[Rollout, Rollout]:
        workflow, grader = self.workflow, self.grader
        return await roll_out(workflow, grader, task, model), await roll_out(workflow, grader, task, model)

    def _defects(
        self, index: int, task: Task, played: tuple[Rollout, Rollout], idle: tuple[Rollout, Rollout]
    ) -> Iterator[Defect]:
        home: Route = ("tasks", index)
        solution: Route = home if task.solution is None else (*home, "solution")
        verdict = played[0].verdict
        has_script = self.scripts[index] is not None
        if not has_script:
            facts: dict[str, Any] = {"task": task.key, "has_ground_truth": bool(task.hidden_ground_truth)}
            yield Defect("no-solution", home, facts)
        unjudged: dict[Failure, Defect] = {}
        pairs = (("oracle", played, solution), ("noop", idle, home))
        for model, rollout, route in ((model, each, route) for model, pair, route in pairs for each in pair):
            failure = rollout.verdict.failure
            # Without a solution, what the task lacks has been said.
            if failure is None or (
                not has_script and (model == "oracle" or failure.charged_to != "verifier")
            ):
                continue
            # The same fault of a task shows in both of its rollouts.
            unjudged.setdefault(failure, self._unjudged(task, model, rollout, failure, route))
        yield from unjudged.values()
        if has_script and verdict.failure is None and (verdict.score is None or verdict.score < 1.0):
            facts = _facts(verdict, played[0]) | {
                "is_written": task.solution is not None,
                "against_errors": self._against_errors(verdict),
            }
            yield Defect("oracle-falls-short", solution, {"task": task.key, **facts})
        if idle[0].verdict.outcome is Outcome.PASSED:
            yield Defect("noop-passes", home, {"task": task.key, **_facts(idle[0].verdict, idle[0])})
        for model, (first, second), _ in pairs:
            # That one of the two could not be judged has been said.
            both = first.verdict.failure is None and second.verdict.failure is None
            if first.trace != second.trace or (both and first.verdict != second.verdict):
                yield Defect("unstable-trace", home, {"task": task.key, "model": model})

    def _contradictions(self, index: int, task: Task, played: Rollout) -> Iterator[Defect]:
        difference = Asked(self.environment, task, played.trace).contradiction
        if difference is not None:
            route: Route = ("tasks", index) if task.solution is None else ("tasks", index, "solution")
            yield Defect("unreached-ground-truth", route, {"task": task.key, "difference": difference})

    def _panel_defects(self, index: int, task: Task, bouts: list[Bout]) -> Iterator[Defect]:
        home: Route = ("tasks", index)
        told: set[Failure] = set()
        is_wrong = any(bout.shortfall is not None and bout.shortfall.certain for bout in bouts)
        for bout in bouts:
            if bout.failure is not None and bout.rollout is not None:
                if bout.failure not in told:
                    told.add(bout.failure)
                    yield self._unjudged(task, bout.member, bout.rollout, bout.failure, home)
            elif bout.verdict is not None and bout.shortfall is not None:
                if is_wrong and not bout.shortfall.certain:
                    continue  # where it is certain, there is no need to wonder
                slug = "false-pass" if bout.shortfall.certain else "loose-verifier"
                route = self._blamed(bout.verdict)
                facts = {
                    "tasks": [task.key],
                    "member": bout.member,
                    "others": [],
                    "marks": [
                        (mark.name, mark.value, mark.reason) for mark in bout.verdict.marks if mark.weight
                    ],
                    "threshold": bout.verdict.threshold,
                    "shortfall": bout.shortfall.sentence,
                    "tolerance": self.grader.primitives[int(route[-1])].options.get("tolerance")
                    if route
                    else None,
                }
                yield Defect(slug, route or home, facts)

    def _blamed(self, verdict: Verdict) -> Route | None:
        """Where the primitive stands that gave a wrong run the most."""
        if self.environment.verifier is None:
            return None
        gains = [mark.weight * (mark.value or 0.0) for mark in verdict.marks]
        return ("verifier", "primitives", gains.index(max(gains)))

    def _against_errors(self, verdict: Verdict) -> str | None:
        """The primitive that a solution fell short in because a call of it failed."""
        for primitive, mark in zip(self.grader.primitives, verdict.marks, strict=True):
            if primitive.type == "no_tool_errors" and mark.weight and (mark.value or 0.0) < 1.0:
                return mark.name
        return None

    def _unjudged(self, task: Task, model: str, rollout: Rollout, failure: Failure, home: Route) -> Defect:
        """The defect of a rollout without a grade: at the primitive that could not judge, or at the task."""
        facts = _unjudged_facts(task.key, model, failure)
        if self.environment.verifier is None:
            return Defect("cannot-judge", home, facts)
        for index, mark in enumerate(rollout.verdict.marks):
            if mark.failure is failure and "missing" in mark.evidence:
                return Defect(
                    "cannot-judge", self._command(index), facts | {"missing": mark.evidence["missing"]}
                )
            if mark.failure is failure and failure.charged_to == "verifier":
                route = ("verifier", "primitives", index)
                return Defect("cannot-judge", route, facts | {"primitive": mark.name})
        return Defect("cannot-judge", ("verifier",) if failure.charged_to == "verifier" else home, facts)

    def _command(self, index: int) -> Route:
        """Where the command stands that a primitive has run: among those declared, or in the primitive."""
        written = self.grader.primitives[index].options["command"]
        declared = (self.environment.config or {}).get("commands") or {}
        if written not in declared:
            return ("verifier", "primitives", index, "command")
        inside = ("command",) if isinstance(declared[written], dict) else ()
        return ("config", "commands", written, *inside)


def _unjudged_facts(task: str, model: str, failure: Failure) -> dict[str, Any]:
    return {
        "tasks": [task],
        "model": model,
        "charged_to": failure.charged_to,
        "failure": failure.sentence,
        "primitive": None,
        "missing": None,
    }


def _words(error: Exception) -> str:
    sentence = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return sentence if sentence.endswith(".") else f"{sentence}."


def _idle_bout(rollout: Rollout) -> Bout:
    verdict = rollout.verdict
    if verdict.failure is not None:
        return Bout(MEMBERS[0], "not_judged", 1, rollout=rollout, failure=verdict.failure)
    if verdict.outcome is Outcome.PASSED:
        return Bout(MEMBERS[0], "passed", 1, verdict, steps=[])
    return Bout(MEMBERS[0], "caught", 1)


def _each_once(defects: list[Defect], of: int) -> Iterator[Defect]:
    """``defects``, with what is wrong with the verifier or the machine told once, not for every task and member."""
    told: dict[tuple[Any, ...], Defect] = {}
    for defect in defects:
        if "tasks" not in defect.facts:
            yield defect
            continue
        first = told.setdefault(_sameness(defect), defect)
        member = defect.facts.get("member")
        if first is defect:
            defect.facts["of"] = of
            yield defect
        elif member != first.facts.get("member"):
            if member not in first.facts["others"]:
                first.facts["others"].append(member)
        elif (task := defect.facts["tasks"][0]) not in first.facts["tasks"]:
            first.facts["tasks"].append(task)


def _sameness(defect: Defect) -> tuple[Any, ...]:
    if defect.slug == "cannot-judge":
        # What this machine lacks, such as a test runner, is lacking for every task alike.
        is_of_machine = defect.facts["charged_to"] == "infrastructure"
        return defect.slug, defect.facts["failure"] if is_of_machine else defect.route
    return defect.slug, defect.route, *(name for name, value, _ in defect.facts["marks"] if value)


def _facts(verdict: Verdict, rollout: Rollout) -> dict[str, Any]:
    errors = [f"{call.tool}: {call.error}" for call in rollout.trace.calls if call.error is not None]
    return {
        "outcome": str(verdict.outcome),
        "score": verdict.score,
        "errors": errors,
        "marks": [(mark.name, mark.value, mark.reason) for mark in verdict.marks],
        "printed": {
            mark.name: telling_line(str(mark.evidence.get("output") or ""))
            for mark in verdict.marks
            if mark.type == "command_passes"
        },
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


__all__ = ["CONCURRENCY", "Defect", "Proof", "TaskProof", "diagnose", "prove"]
