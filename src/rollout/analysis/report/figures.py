"""The figures of a report: how rollouts came out, by score, by calls and by time; with places in percent for drawing.

What is kept while rollouts are counted grows with the number of tasks, not of rollouts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import ceil

from rollout.analysis.report.texts import Texts
from rollout.analysis.stats import wilson
from rollout.analysis.summary import Brief, Summary
from rollout.analysis.words import number, percent
from rollout.engine import Outcome

MOST_TASKS = 60
"""So many tasks are drawn, those that pass least first; the page's table has the rest."""

ORDER = (Outcome.PASSED, Outcome.FAILED, Outcome.UNSCORED, Outcome.ERROR)
"""The order in which outcomes are drawn."""

MOST_PRIMITIVES = 60
"""So many primitives are counted, the first that are met."""

SIGNS = ("passed", "partly", "failed", "unscored", "error")
"""How a primitive comes out; the last two are no judgement."""

_MOST_BARS = 24
_SECONDS = tuple(base * 10.0**power for power in range(-3, 5) for base in (1, 2, 5))


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a bar: so many rollouts of one outcome, from ``start`` on for ``size``, in percent of the whole."""

    outcome: Outcome
    amount: int
    start: float
    size: float


@dataclass(frozen=True, slots=True)
class Bar:
    """A bar of a histogram, with its place and width in percent; ``label`` is below it, empty for want of room."""

    name: str
    label: str
    amount: int
    start: float
    width: float
    parts: Sequence[Part]


@dataclass(frozen=True, slots=True)
class Histogram:
    """A histogram; ``described`` is all of it in words, ``highest`` how many the highest bar has."""

    title: str
    axis: str
    bars: Sequence[Bar]
    highest: int
    described: str


@dataclass(frozen=True, slots=True)
class TaskRate:
    """The pass rate of one task, and Wilson's 95 % interval; None where nothing was graded."""

    task: str
    passed: int
    graded: int
    all: int
    mean_score: str | None
    rate: float | None
    low: float
    high: float
    words: str


@dataclass(frozen=True, slots=True)
class Primitive:
    """How one primitive came out over all rollouts, by sign; ``parts`` are (sign, amount, start, size in percent)."""

    name: str
    amounts: Mapping[str, int]
    parts: Sequence[tuple[str, int, float, float]]


class Figures:
    """Counts rollouts for the plots, one by one."""

    def __init__(self) -> None:
        self._scores: Counter[tuple[int, Outcome]] = Counter()
        self._calls: Counter[tuple[int, Outcome]] = Counter()
        self._seconds: Counter[tuple[int, Outcome]] = Counter()
        self._marks: dict[str, Counter[str]] = {}
        self._all, self._all_calls, self._all_seconds = 0, 0, 0.0

    def add(self, brief: Brief, calls: int, marks: Iterable[tuple[str, str]]) -> None:
        """Counts one rollout; ``marks`` are the names of its primitives, each with how it came out."""
        self._all += 1
        self._all_calls += calls
        self._all_seconds += brief.seconds
        for name, sign in marks:
            if name in self._marks or len(self._marks) < MOST_PRIMITIVES:
                self._marks.setdefault(name, Counter())[sign] += 1
        if brief.score is not None:
            self._scores[_score_bin(brief.score), brief.outcome] += 1
        self._calls[calls, brief.outcome] += 1
        self._seconds[bisect_right(_SECONDS, brief.seconds), brief.outcome] += 1

    def means(self) -> tuple[str, str] | None:
        """How many calls a rollout made, and how long it took, in the mean; None when there is none."""
        if not self._all:
            return None
        return f"{self._all_calls / self._all:.1f}", _duration(float(f"{self._all_seconds / self._all:.2g}"))

    def primitives(self) -> list[Primitive]:
        """The primitives, in the order of the verifier."""
        found = []
        for name, amounts in self._marks.items():
            parts, start, whole = [], 0.0, amounts.total()
            for sign in SIGNS:
                if amounts[sign]:
                    size = amounts[sign] / whole * 100
                    parts.append((sign, amounts[sign], start, size))
                    start += size
            found.append(Primitive(name, amounts, parts))
        return found

    def histograms(self) -> list[Histogram]:
        """Those that have something to show."""
        made = [self._of_scores(), self._of_calls(), self._of_seconds()]
        return [each for each in made if each.bars]

    def _of_scores(self) -> Histogram:
        return score_histogram(self._scores)

    def _of_calls(self) -> Histogram:
        most = max((calls for calls, _ in self._calls), default=-1)
        step = max(1, ceil((most + 1) / _MOST_BARS))
        binned: Counter[tuple[int, Outcome]] = Counter()
        for (calls, outcome), amount in self._calls.items():
            binned[calls // step, outcome] += amount

        def name(index: int) -> str:
            return f"{index}" if step == 1 else f"{index * step} to {index * step + step - 1}"

        bins = range(most // step + 1)
        every = max(1, ceil(len(bins) / 8))
        return _histogram(
            "Tool calls",
            "calls in a rollout",
            binned,
            bins,
            name,
            lambda index: f"{index * step}" if index % every == 0 else "",
        )

    def _of_seconds(self) -> Histogram:
        def name(index: int) -> str:
            if index == 0:
                return f"under {_duration(_SECONDS[0])}"
            if index == len(_SECONDS):
                return f"over {_duration(_SECONDS[-1])}"
            return f"{_duration(_SECONDS[index - 1])} to {_duration(_SECONDS[index])}"

        found = [index for index, _ in self._seconds]
        bins = range(min(found), max(found) + 1) if found else range(0)
        every = max(1, ceil(len(bins) / 5))
        return _histogram(
            "Time",
            "for a rollout, without judging",
            self._seconds,
            bins,
            name,
            lambda index: _duration(_SECONDS[index - 1]) if index and (index - bins[0]) % every == 0 else "",
        )


def score_histogram(counted: Mapping[tuple[int, Outcome], int]) -> Histogram:
    """How many rollouts have which score, counted by outcome in twelve bins: 0, ten tenths, and 1."""

    def name(index: int) -> str:
        if index in (0, 11):
            return "1" if index else "0"
        return f"{(index - 1) / 10:g} to {index / 10:g}"

    labels = {0: "0", 6: "0.5", 11: "1"}
    return _histogram(
        "Scores",
        "of those graded",
        Counter(counted),
        range(12) if counted else (),
        name,
        lambda index: labels.get(index, ""),
    )


def outcome_parts(summary: Summary) -> list[Part]:
    """How all rollouts came out, as one bar."""
    return stacked({outcome: summary.outcomes[outcome] for outcome in ORDER}, summary.tally.all)


def task_rates(summary: Summary, texts: Texts) -> list[TaskRate]:
    """The tasks, those that pass least first; among equals, those that are surer."""
    rates = []
    for key, counted in summary.tasks().items():
        passed, graded = counted["passed"], counted["graded"]
        interval = wilson(passed, graded)
        mean = counted["mean_score"]
        rate = passed / graded if graded else None
        low, high = (interval.low, interval.high) if interval is not None else (0.0, 1.0)
        words = (
            "not graded"
            if rate is None
            else f"{percent(rate)}, 95 % interval {percent(low)} to {percent(high)}"
        )
        shown_mean = None if mean is None else number(mean)
        rates.append(
            TaskRate(
                texts.line(key, 120),
                passed,
                graded,
                counted["all"],
                shown_mean,
                rate,
                low * 100,
                high * 100,
                words,
            )
        )
    return sorted(rates, key=lambda each: (2.0 if each.rate is None else each.rate, each.high, each.task))


def _histogram(
    title: str,
    axis: str,
    counted: Counter[tuple[int, Outcome]],
    bins: Iterable[int],
    name: Callable[[int], str],
    label: Callable[[int], str],
) -> Histogram:
    bins = list(bins)
    totals = {index: sum(counted[index, outcome] for outcome in ORDER) for index in bins}
    highest = max(totals.values(), default=0)
    width = 100 / max(len(bins), 1)
    bars = [
        Bar(
            name(index),
            label(index),
            totals[index],
            position * width,
            width,
            stacked({outcome: counted[index, outcome] for outcome in ORDER}, highest),
        )
        for position, index in enumerate(bins)
    ]
    described = "; ".join(f"{bar.name}: {bar.amount}" for bar in bars if bar.amount)
    return Histogram(title, axis, bars, highest, described)


def stacked(amounts: Mapping[Outcome, int], whole: int) -> list[Part]:
    """Amounts as pieces of a bar, one after the other; the bar's length is ``whole``."""
    parts, start = [], 0.0
    for outcome, amount in amounts.items():
        if amount:
            size = amount / whole * 100
            parts.append(Part(outcome, amount, start, size))
            start += size
    return parts


def _score_bin(score: float) -> int:
    """0 and 1 have bins of their own, the first and the last of twelve."""
    if score <= 0:
        return 0
    return 11 if score >= 1 else min(10, int(score * 10) + 1)


def _duration(seconds: float) -> str:
    if seconds < 1:
        return f"{seconds * 1000:g} ms"
    if seconds < 60:
        return f"{seconds:g} s"
    return f"{seconds / 60:.3g} min"


__all__ = [
    "MOST_PRIMITIVES",
    "MOST_TASKS",
    "ORDER",
    "SIGNS",
    "Bar",
    "Figures",
    "Histogram",
    "Part",
    "Primitive",
    "TaskRate",
    "outcome_parts",
    "score_histogram",
    "stacked",
    "task_rates",
]
