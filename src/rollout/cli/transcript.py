"""A rollout as a person reads it: what was asked, each call with its result, and the verdict with its reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from json import dumps

from rollout.analysis.words import number
from rollout.diagnostics._visible import visible
from rollout.engine import Failure, Mark, Outcome, Rollout, Tally, Trace, Verdict
from rollout.environment import Task
from rollout.verifiers import ToolCall

_LONGEST_LINE = 240
_MOST_LINES = 12
_MOST_PRINTED = 15

_STYLES = {
    Outcome.PASSED: "32",
    Outcome.FAILED: "31",
    Outcome.ERROR: "1;31",
    Outcome.UNSCORED: "33",
    "title": "1",
    "quiet": "2",
    "call": "36",
}

_ENDINGS = {
    "silence": "(said nothing)",
    "tool_limit": "(stopped at the limit of tool calls)",
}


class Transcript:
    """Draws rollouts line by line. Text from tasks, models and tools is shown without its control characters."""

    def __init__(self, *, color: bool) -> None:
        self.color = color

    def rollout(self, task: Task, rollout: Rollout) -> str:
        """One rollout: the task, the calls, the last words and the verdict."""
        lines = [
            *self._task(task, rollout.trace.trial),
            *self._trace(rollout.trace),
            *self._verdict(rollout.verdict),
        ]
        return "\n".join(lines)

    def verdict(self, verdict: Verdict) -> str:
        """The verdict alone, for somebody who has seen the rest."""
        return "\n".join(self._verdict(verdict))

    def tally(self, tally: Tally, planned: int) -> str:
        """``2 passed, 1 failed, 0 errors``, with the pass rate of those graded and of all, or that were to be done."""
        outcomes = tally.outcomes
        unscored = outcomes.get(Outcome.UNSCORED, 0)
        counts = [
            f"{tally.passed} passed",
            f"{outcomes.get(Outcome.FAILED, 0)} failed",
            _count(outcomes.get(Outcome.ERROR, 0), "error"),
            *([f"{unscored} unscored"] if unscored else []),
        ]
        whole = f"{tally.all} in all" if tally.all >= planned else f"{planned} planned"
        rates = f"passed {tally.passed} of {tally.graded} graded, {tally.passed} of {whole}"
        worst = Outcome.PASSED if tally.passed == planned else Outcome.FAILED
        return f"{self._paint(', '.join(counts), worst)} ({rates})"

    def _task(self, task: Task, trial: int) -> Iterator[str]:
        which = f"({task.split}, trial {trial})" if trial else f"({task.split})"
        yield f"{self._paint(visible(task.key), 'title')} {self._paint(which, 'quiet')}"
        yield from _indented(task.instruction)
        if task.input:
            yield f"  {self._paint('input', 'quiet')} {_shortened(dumps(task.input, ensure_ascii=False))}"

    def _trace(self, trace: Trace) -> Iterator[str]:
        for call in trace.calls:
            yield from self._call(call)
        if trace.ending in _ENDINGS:
            yield f"  {self._paint(_ENDINGS[trace.ending], 'quiet')}"
        elif trace.final_output:
            *lines, last = _indented(f"“{trace.final_output.strip()}")
            yield from (*lines, f"{last}”")

    def _call(self, call: ToolCall) -> Iterator[str]:
        arrow = self._paint("→", Outcome.FAILED if call.error is not None else "call")
        arguments = call.arguments.strip() or "{}"
        yield f"  {arrow} {visible(call.tool)}({_shortened(arguments)}) = {_shortened(call.content)}"

    def _verdict(self, verdict: Verdict) -> Iterator[str]:
        outcome = self._paint(str(verdict.outcome), verdict.outcome)
        if verdict.failure is not None:
            yield f"  {outcome}, {_charge(verdict.failure)}"
        elif verdict.score is not None:
            threshold = "" if verdict.threshold == 1 else f", {number(verdict.threshold)} is needed"
            yield f"  {outcome} with a score of {number(verdict.score)}{threshold}"
        for mark in verdict.marks:
            yield self._mark(mark)
            if mark.value is None or mark.value < 1:
                yield from self._printed(mark.evidence.get("output"))

    def _mark(self, mark: Mark) -> str:
        if mark.value is None:
            sign = self._paint("!", Outcome.ERROR)
        elif mark.value >= 1:
            sign = self._paint("✓", Outcome.PASSED)
        else:
            sign = self._paint("✗" if mark.value <= 0 else "~", Outcome.FAILED)
        weight = "" if mark.weight == 1 else self._paint(f" ×{number(mark.weight)}", "quiet")
        return f"    {sign} {visible(mark.name)}{weight}: {_shortened(mark.reason)}"

    def _printed(self, output: object) -> Iterator[str]:
        """The end of what a command printed that did not pass, where its assertions stand."""
        if not isinstance(output, str):
            return
        lines = [line for line in output.splitlines() if line.strip()]
        if len(lines) > _MOST_PRINTED:
            yield f"        {self._paint(f'… {len(lines) - _MOST_PRINTED} lines before', 'quiet')}"
        for line in lines[-_MOST_PRINTED:]:
            yield f"        {self._paint(_shortened(line.rstrip()), 'quiet')}"

    def _paint(self, text: str, style: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.color else text


def tally(rollouts: Iterable[Rollout]) -> Tally:
    """Counts rollouts by outcome."""
    return Tally(Counter(rollout.verdict.outcome for rollout in rollouts))


def _charge(failure: Failure) -> str:
    return f"charged to the {failure.charged_to}: {_shortened(failure.sentence)}"


def _count(amount: int, noun: str) -> str:
    return f"{amount} {noun}" if amount == 1 else f"{amount} {noun}s"


def _indented(text: str) -> Sequence[str]:
    lines = [line for line in text.splitlines() if line.strip()] or [""]
    shown = [f"  {_shortened(line)}" for line in lines[:_MOST_LINES]]
    return [*shown, f"  … {len(lines) - _MOST_LINES} more lines"] if len(lines) > _MOST_LINES else shown


def _shortened(text: str) -> str:
    line = visible(text)
    return line if len(line) <= _LONGEST_LINE else f"{line[: _LONGEST_LINE - 1]}…"


__all__ = ["Transcript", "tally"]
