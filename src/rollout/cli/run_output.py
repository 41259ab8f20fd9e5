"""What `rollout test` shows of a run: text for people, one JSON envelope, JUnit XML, or an event a line."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Protocol

import orjson

from rollout.analysis.summary import Brief, Summary
from rollout.analysis.words import percent, short
from rollout.cli.output import show, show_json, visible, wants_color, write_json
from rollout.cli.progress import Progress
from rollout.cli.run_plan import Plan
from rollout.cli.transcript import Transcript
from rollout.diagnostics._visible import escaped_json
from rollout.engine import Outcome
from rollout.engine.batch import Done, Stop

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MOST_TRANSCRIPTS = 20
"""Runs of more rollouts are shown as a summary, with the first few that did not pass."""

_MOST_FAILURES = 10
_SHOWN_KS = 5


class RunOutput(Protocol):
    """Shows a run when it begins, while it goes on, and at its end."""

    def begin(self) -> None:
        """The run begins; its folder is there, where it has one."""

    def rollout(self, done: Done, brief: Brief) -> None:
        """A rollout is finished, in any order."""

    def end(self, stop: Stop | None) -> None:
        """The run is over; ``stop`` says why, when not all was done."""


class TextOutput:
    """Whole transcripts of a small run, in the order of its tasks; of a large one what did not pass. Then a summary."""

    def __init__(self, plan: Plan, progress: Progress) -> None:
        self._plan = plan
        self._progress = progress
        self._transcript = Transcript(color=wants_color())
        self._whole = plan.planned - plan.done_before <= MOST_TRANSCRIPTS
        self._order = [(job.task.key, job.trial) for job in plan.left()] if self._whole else []
        self._held: dict[tuple[str, int], list[Done]] = {}
        self._failures: list[Brief] = []
        self._unshown = 0

    def begin(self) -> None:
        """Shows nothing."""

    def rollout(self, done: Done, brief: Brief) -> None:
        """Shows it when those before it have been shown."""
        if not self._whole:
            if brief.outcome is not Outcome.PASSED:
                if len(self._failures) < _MOST_FAILURES:
                    self._failures.append(brief)
                else:
                    self._unshown += 1
            return
        self._held.setdefault((brief.task, brief.trial), []).append(done)
        while self._order and self._held.get(self._order[0]):
            self._show(self._held[self._order.pop(0)].pop(0))

    def _show(self, done: Done) -> None:
        with self._progress.aside():
            show(f"{self._transcript.rollout(done.job.task, done.rollout)}\n")
            sys.stdout.flush()

    def end(self, stop: Stop | None) -> None:
        """Shows what is left to show, and the summary."""
        for key in self._order:
            for done in self._held.get(key, ()):
                self._show(done)
        for brief in self._failures:
            trial = f" (trial {brief.trial})" if self._plan.trials > 1 else ""
            show(f"{brief.outcome} {visible(brief.task)}{trial}: {_shortened(brief.reason)}")
        if self._unshown:
            show(f"… {self._unshown} more did not pass.")
        if self._failures:
            show("")
        summary = self._plan.summary
        for line in summary_lines(summary):
            show(line)
        left = len(self._plan.environment.tasks) - len(self._plan.tasks)
        show(
            self._transcript.tally(summary.tally, self._plan.planned)
            + (f"; {left} more of its tasks were not run." if left else ".")
        )


def summary_lines(summary: Summary) -> Iterator[str]:
    """The figures of a run that say more than its tally, a line each; none for a run of three rollouts or fewer."""
    tally, interval = summary.tally, summary.interval
    if tally.all <= 3:
        return
    if interval is not None:
        rate = tally.passed / tally.graded
        yield (
            f"pass rate {percent(rate)} of {tally.graded} graded "
            f"(95 % interval {percent(interval.low)} to {percent(interval.high)}, Wilson); "
            f"{percent(tally.passed / tally.all)} of all {tally.all}"
        )
    for name, at in (("pass@", summary.pass_at), ("pass^", summary.pass_hat)):
        shown = [(k, at(k)) for k in shown_ks(summary.most_trials)]
        values = [f"{name}{k} {percent(mean.value)}" for k, mean in shown if mean is not None]
        if values:
            least = min(mean.tasks for _, mean in shown if mean is not None)
            yield f"{', '.join(values)} (mean over {least if least == 1 else f'{least:,}'} task{'s' * (least != 1)})"
    for what, by in (("errors", summary.errors), ("unscored", summary.unscored)):
        if by:
            charged = ", ".join(f"{number} to the {whom}" for whom, number in sorted(by.items()))
            yield f"{what} charged: {charged}"
    if summary.retried:
        first = summary.first_tries
        yield (
            f"{summary.retried} tried again after infrastructure broke; "
            f"at the first try {first.passed} of {first.graded} graded passed"
        )
    used = summary.usage + summary.judge_usage
    if not used.is_nothing:
        cost = f"${used.cost:,.4f}" if used.cost is not None else "cost not known"
        judges = (
            ""
            if summary.judge_usage.is_nothing
            else f", {short(summary.judge_usage.tokens)} of them by judges"
        )
        yield f"tokens: {short(used.input_tokens)} in, {short(used.output_tokens)} out{judges}; {cost}"


def shown_ks(most: int) -> list[int]:
    """The first few of 1 to ``most``, and ``most`` itself; none when there was one trial."""
    if most < 2:
        return []
    return list(range(1, most + 1)) if most <= _SHOWN_KS else [1, 2, 3, 4, most]


class JsonOutput:
    """One envelope at the end. The rollouts are in it, unless the run has a folder that has them."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._done: dict[tuple[str, int], list[Done]] = {}

    def begin(self) -> None:
        """Shows nothing."""

    def rollout(self, done: Done, brief: Brief) -> None:
        """Keeps it for the end."""
        if self._plan.journal is None:
            self._done.setdefault((brief.task, brief.trial), []).append(done)

    def end(self, stop: Stop | None) -> None:
        """Writes the envelope."""
        show_json("test", self.data(stop))

    def data(self, stop: Stop | None) -> dict[str, Any]:
        """What the envelope says."""
        data = run_data(self._plan, stop)
        if self._plan.journal is None:
            order = {(job.task.key, job.trial): None for job in self._plan.left()}
            done = [each for key in order for each in self._done.get(key, ())]
            data["rollouts"] = [
                {**asdict(each.rollout), "earlier": [asdict(attempt) for attempt in each.earlier]}
                for each in done
            ]
        return data


class EventOutput:
    """An event a line, as it happens: ``begin``, then ``rollout`` for each, then ``end`` with the summary."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan

    def begin(self) -> None:
        """Writes what the run is, once its folder is there."""
        plan = self._plan
        write_event(
            {
                "event": "begin",
                "schema_version": 1,
                "environment": plan.environment.slug,
                "model": plan.model,
                "planned": plan.planned,
                "done_before": plan.done_before,
                "run": None if plan.journal is None else str(plan.journal.folder),
            }
        )

    def rollout(self, done: Done, brief: Brief) -> None:
        """Writes it in brief."""
        write_event({"event": "rollout", **asdict(brief)})

    def end(self, stop: Stop | None) -> None:
        """Writes the summary."""
        write_event({"event": "end", **run_data(self._plan, stop)})


def write_event(event: dict[str, Any]) -> None:
    """Writes an event as a line, at once."""
    text = orjson.dumps(event, option=orjson.OPT_APPEND_NEWLINE).decode()
    write_json(escaped_json(text).encode())
    sys.stdout.buffer.flush()


class JunitOutput:
    """JUnit XML at the end: a rollout is a test, and what has no grade is an error."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._told: list[Brief] = []

    def begin(self) -> None:
        """Shows nothing."""

    def rollout(self, done: Done, brief: Brief) -> None:
        """Keeps it in brief."""
        self._told.append(brief)

    def end(self, stop: Stop | None) -> None:
        """Writes the document."""
        show_suites([self.suite()])

    def suite(self) -> Element:
        """The rollouts as a suite of tests."""
        from xml.etree.ElementTree import Element, SubElement

        plan = self._plan
        order = {job.task.key: number for number, job in enumerate(plan.left())}
        told = sorted(self._told, key=lambda brief: (order.get(brief.task, 0), brief.trial))
        suite = Element("testsuite", name=visible(plan.environment.slug))
        suite.set("tests", str(len(told)))
        suite.set("failures", str(sum(brief.outcome is Outcome.FAILED for brief in told)))
        errors = sum(brief.outcome in (Outcome.ERROR, Outcome.UNSCORED) for brief in told)
        suite.set("errors", str(errors))
        for brief in told:
            name = visible(brief.task) + (f" [trial {brief.trial}]" if plan.trials > 1 else "")
            case = SubElement(
                suite,
                "testcase",
                classname=visible(plan.environment.slug),
                name=name,
                time=f"{brief.seconds:.3f}",
            )
            if brief.outcome is Outcome.FAILED:
                SubElement(case, "failure", type="failed", message=visible(brief.reason))
            elif brief.outcome is not Outcome.PASSED:
                kind = (
                    str(brief.outcome) if brief.charged_to is None else f"{brief.outcome}: {brief.charged_to}"
                )
                SubElement(case, "error", type=kind, message=visible(brief.reason))
        return suite


def show_suites(suites: Sequence[Element]) -> None:
    """Writes suites of tests as one document."""
    from xml.etree.ElementTree import Element, indent, tostring

    root = Element("testsuites", name="rollout test")
    for count in ("tests", "failures", "errors"):
        root.set(count, str(sum(int(suite.get(count, "0")) for suite in suites)))
    root.extend(suites)
    indent(root)
    show(f'<?xml version="1.0" encoding="UTF-8"?>\n{tostring(root, encoding="unicode")}')


def run_data(plan: Plan, stop: Stop | None) -> dict[str, Any]:
    """A run as JSON, without its rollouts."""
    return {
        "environment": plan.environment.slug,
        "model": plan.model,
        "run": None if plan.journal is None else str(plan.journal.folder),
        "planned": plan.planned,
        "trials": plan.trials,
        "stopped": None if stop is None else asdict(stop),
        **plan.summary.data(),
        "tasks": plan.summary.tasks(),
    }


def _shortened(text: str) -> str:
    line = visible(text)
    return line if len(line) <= 160 else f"{line[:159]}…"


__all__ = [
    "MOST_TRANSCRIPTS",
    "EventOutput",
    "JsonOutput",
    "JunitOutput",
    "RunOutput",
    "TextOutput",
    "run_data",
    "show_suites",
    "shown_ks",
    "summary_lines",
    "write_event",
]
