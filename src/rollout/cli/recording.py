"""Keeps a play as its task's solution: only one that the oracle can play back, and that reads back as it was played."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from rollout.analysis.words import number
from rollout.check import Report
from rollout.cli.inputs import reports
from rollout.compile.record import Home, RecordError, find_home, to_paste, with_solution
from rollout.engine import Grader, Outcome, Trace, Workflow, roll_out
from rollout.environment import Environment, Task
from rollout.models import connect

Solution = list[dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Unwritten:
    """Why nothing can be written where the task stands."""

    sentence: str


@dataclass(frozen=True, slots=True)
class Recorder:
    """Records plays of one task of one environment, which was read from ``path``."""

    path: str
    slug: str | None
    environment: Environment
    index: int
    home: Home | Unwritten

    @classmethod
    def of(
        cls, path: str, slug: str | None, report: Report, environment: Environment, task: Task
    ) -> Recorder:
        """The recorder for ``task``, one of the environment's."""
        index = next(at for at, each in enumerate(environment.tasks) if each is task)
        home: Home | Unwritten
        try:
            home = find_home(report.document, index)
        except RecordError as error:
            home = Unwritten(str(error))
        return cls(path, slug, environment, index, home)

    @property
    def task(self) -> Task:
        """The task that is played."""
        return self.environment.tasks[self.index]

    async def prove(self, solution: Solution, workflow: Workflow, grader: Grader) -> None:
        """Raises RecordError unless the oracle reaches the top score with ``solution``."""
        if not solution:
            raise RecordError("Nothing was done in this play, and doing nothing is no solution.")
        played = await roll_out(workflow, grader, replace(self.task, solution=solution), connect("oracle"))
        verdict = played.verdict
        if verdict.outcome is not Outcome.PASSED or verdict.score is None or verdict.score < 1:
            short = [mark for mark in verdict.marks if mark.weight and (mark.value is None or mark.value < 1)]
            why = verdict.failure.sentence if verdict.failure else " ".join(mark.reason for mark in short)
            came = "to no score" if verdict.score is None else f"to a score of {number(verdict.score)}"
            raise RecordError(
                f"Played back by the oracle it comes {came}, and a solution is to reach 1: {why}"
            )

    def write(self, solution: Solution) -> str:
        """Writes the solution and reads the environment again; the label of the file.

        Raises RecordError when it cannot be written, or what is read then is not just this; the file is as it was.
        """
        if isinstance(self.home, Unwritten):
            raise RecordError(self.home.sentence, "Paste the solution.")
        change = with_solution(self.home, solution)
        change.write()
        fault: str | None = "it could not be read again."
        try:
            fault = self._fault(solution)
        finally:
            if fault is not None:
                change.take_back()
        if fault is not None:
            raise RecordError(f"Written into “{self.home.label}”, {fault} The file is as it was.")
        return self.home.label

    def to_paste(self, solution: Solution) -> str:
        """The solution for the author to paste."""
        return to_paste(None if isinstance(self.home, Unwritten) else self.home, solution)

    def _fault(self, solution: Solution) -> str | None:
        found = list(reports([self.path], slug=self.slug))
        broken = [each for report in found for each in report.diagnostics if not report.ok]
        if broken:
            return f"it would be an error: {broken[0].message}"
        expected = list(self.environment.tasks)
        expected[self.index] = replace(self.task, solution=solution)
        wanted = replace(self.environment, tasks=expected)
        if len(found) != 1 or found[0].environment() != wanted:
            return "it would change more than the solution."
        return None


def solution_of(trace: Trace) -> Solution:
    """The calls that came to their tools, and the last words. Calls that no tool took are left out."""
    steps: Solution = [
        {"tool": call.tool, **({"args": call.args} if call.args else {})} for call in trace.calls if call.ran
    ]
    if trace.ending == "answer":
        steps.append({"answer": trace.final_output})
    return steps


__all__ = ["Recorder", "Unwritten", "solution_of"]
