"""What `rollout test` shows of several environments: a line each, or an entry in one document, and the sum of all."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, Protocol

from rollout.analysis.summary import Brief
from rollout.cli.output import show, show_json, visible, wants_color
from rollout.cli.run_output import (
    EventOutput,
    JsonOutput,
    JunitOutput,
    RunOutput,
    show_suites,
    write_event,
)
from rollout.cli.transcript import Transcript
from rollout.engine import Outcome, Tally
from rollout.engine.batch import Done, Stop

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

    from rollout.cli.progress import Progress
    from rollout.cli.run_plan import Plan
    from rollout.cli.several import Turn

_MOST_FAILURES = 3
_LONGEST_REASON = 120


class SeveralOutput(Protocol):
    """Shows the runs of several environments."""

    def of(self, plan: Plan, progress: Progress) -> RunOutput:
        """What shows the run of one of them."""

    def missed(self, turn: Turn) -> None:
        """One of them is not run."""

    def end(self) -> None:
        """All had their turn."""


class _Sum:
    """Counts the rollouts of all, and the environments that were not run."""

    def __init__(self) -> None:
        self.plans: list[Plan] = []
        self.not_run: list[Turn] = []

    @property
    def tally(self) -> Tally:
        outcomes: Counter[Outcome] = Counter()
        for plan in self.plans:
            outcomes.update(plan.summary.outcomes)
        return Tally(dict(outcomes))

    @property
    def planned(self) -> int:
        return sum(plan.planned for plan in self.plans)

    def data(self) -> dict[str, Any]:
        tally = self.tally
        return {
            "planned": self.planned,
            "outcomes": {str(outcome): number for outcome, number in sorted(tally.outcomes.items())},
            "passed": tally.passed,
            "graded": tally.graded,
            "all": tally.all,
            "not_run": [_missed(turn) for turn in self.not_run],
        }


def _missed(turn: Turn) -> dict[str, Any]:
    error = {} if turn.error is None else {"error": turn.error}
    return {"environment": turn.slug, "path": turn.label, **error}


class SeveralText(_Sum):
    """A line for each, with the first few that did not pass below it, and one for all."""

    def of(self, plan: Plan, progress: Progress) -> RunOutput:
        """One line of text."""
        self.plans.append(plan)
        return _Line(plan)

    def missed(self, turn: Turn) -> None:
        """Says so, in its place."""
        self.not_run.append(turn)
        show(f"{visible(turn.label)}: not run")

    def end(self) -> None:
        """The line for all."""
        count = len(self.plans) + len(self.not_run)
        missed = f"; {len(self.not_run)} of them not run" if self.not_run else ""
        tally = Transcript(color=wants_color()).tally(self.tally, self.planned)
        show(f"\n{count} environments: {tally}{missed}.")


class _Line:
    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._failures: list[Brief] = []

    def begin(self) -> None:
        """Shows nothing."""

    def rollout(self, done: Done, brief: Brief) -> None:
        """Keeps what did not pass."""
        if brief.outcome is not Outcome.PASSED:
            self._failures.append(brief)

    def end(self, stop: Stop | None) -> None:
        """Shows the line."""
        plan = self._plan
        left = len(plan.environment.tasks) - len(plan.tasks)
        tally = Transcript(color=wants_color()).tally(plan.summary.tally, plan.planned)
        more = f"; {left} more of its tasks were not run." if left else "."
        show(f"{visible(plan.label)}: {tally}{more}")
        order = {job.task.key: number for number, job in enumerate(plan.left())}
        self._failures.sort(key=lambda brief: (order.get(brief.task, 0), brief.trial))
        for brief in self._failures[:_MOST_FAILURES]:
            trial = f" (trial {brief.trial})" if plan.trials > 1 else ""
            reason = visible(brief.reason)
            short = reason if len(reason) <= _LONGEST_REASON else f"{reason[: _LONGEST_REASON - 1]}…"
            show(f"  {brief.outcome} {visible(brief.task)}{trial}: {short}")
        if (unshown := len(self._failures) - _MOST_FAILURES) > 0:
            show(f"  … {unshown} more did not pass.")


class SeveralJson(_Sum):
    """One envelope at the end, with what it would be of each in a list."""

    def __init__(self) -> None:
        super().__init__()
        self._told: list[dict[str, Any]] = []

    def of(self, plan: Plan, progress: Progress) -> RunOutput:
        """An entry of the list."""
        self.plans.append(plan)
        told = self._told

        class Entry(JsonOutput):
            def end(self, stop: Stop | None) -> None:
                told.append({"path": plan.label, **self.data(stop)})

        return Entry(plan)

    def missed(self, turn: Turn) -> None:
        """Keeps it for the end."""
        self.not_run.append(turn)

    def end(self) -> None:
        """Writes the envelope."""
        show_json("test", {"environments": self._told, **self.data()})


class SeveralEvents(_Sum):
    """The events of each in turn, and one of all at the end."""

    def of(self, plan: Plan, progress: Progress) -> RunOutput:
        """Its events."""
        self.plans.append(plan)
        return EventOutput(plan)

    def missed(self, turn: Turn) -> None:
        """An event, too."""
        self.not_run.append(turn)
        write_event({"event": "not_run", "environment": turn.slug, "path": turn.label})

    def end(self) -> None:
        """The event of all."""
        write_event({"event": "total", "environments": len(self.plans), **self.data()})


class SeveralJunit:
    """One document of JUnit XML, with a suite for each; what is not run is an error."""

    def __init__(self) -> None:
        self._suites: list[Element] = []

    def of(self, plan: Plan, progress: Progress) -> RunOutput:
        """A suite."""
        suites = self._suites

        class Suite(JunitOutput):
            def end(self, stop: Stop | None) -> None:
                suites.append(self.suite())

        return Suite(plan)

    def missed(self, turn: Turn) -> None:
        """A suite of one error."""
        from xml.etree.ElementTree import Element, SubElement

        suite = Element("testsuite", name=visible(turn.slug), tests="1", failures="0", errors="1")
        case = SubElement(suite, "testcase", classname=visible(turn.slug), name="(not run)", time="0.000")
        SubElement(case, "error", type="not run", message=f"{visible(turn.label)} was not run.")
        self._suites.append(suite)

    def end(self) -> None:
        """Writes the document."""
        show_suites(self._suites)


def several_output(form: str) -> SeveralOutput:
    """What shows several runs in the form that was asked for."""
    if form == "json":
        return SeveralJson()
    if form == "events":
        return SeveralEvents()
    return SeveralJunit() if form == "junit" else SeveralText()


__all__ = ["SeveralOutput", "several_output"]
