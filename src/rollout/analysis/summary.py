"""The summary of a run: pass rates with both denominators, what went wrong by whom it is charged to, and what was used.

Rollouts are counted one by one and forgotten; what is kept grows with the number of tasks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from rollout.analysis.stats import Interval, Mean, mean_over_tasks, pass_at, pass_hat, wilson
from rollout.engine import Outcome, Tally
from rollout.engine.batch import Done
from rollout.models import Usage


@dataclass(frozen=True, slots=True)
class Brief:
    """What counts of one finished rollout. ``reason`` says why it did not pass, as far as one sentence can."""

    task: str
    trial: int
    outcome: Outcome
    score: float | None = None
    charged_to: str | None = None
    reason: str = ""
    usage: Usage = field(default_factory=Usage)
    judge_usage: Usage = field(default_factory=Usage)
    seconds: float = 0.0
    attempts: int = 1

    @classmethod
    def of(cls, done: Done) -> Brief:
        """The brief of a rollout that has just been finished."""
        trace, verdict = done.rollout.trace, done.rollout.verdict
        reason = verdict.failure.sentence if verdict.failure is not None else ""
        if verdict.outcome is Outcome.FAILED:
            reason = " ".join(mark.reason for mark in verdict.marks if (mark.value or 0.0) < 1)
        return cls(
            trace.task,
            trace.trial,
            verdict.outcome,
            verdict.score,
            verdict.failure.charged_to if verdict.failure is not None else None,
            reason,
            done.usage,
            verdict.usage if verdict.marks else Usage(),
            trace.seconds,
            len(done.earlier) + 1,
        )

    @classmethod
    def of_line(cls, line: Mapping[str, Any]) -> Brief:
        """The brief of a line of a run's journal."""
        trace, verdict, earlier = line["trace"], line["verdict"], line.get("earlier") or ()
        failure, marks = verdict.get("failure") or {}, verdict.get("marks") or ()
        outcome = Outcome(verdict["outcome"])
        reason = failure.get("sentence", "")
        if outcome is Outcome.FAILED:
            reason = " ".join(mark["reason"] for mark in marks if (mark["value"] or 0.0) < 1)
        return cls(
            trace["task"],
            trace.get("trial", 0),
            outcome,
            verdict.get("score"),
            failure.get("charged_to"),
            reason,
            _total([trace.get("usage"), *(attempt.get("usage") for attempt in earlier)]),
            _total([mark.get("usage") for mark in marks]),
            trace.get("seconds", 0.0),
            len(earlier) + 1,
        )

    @property
    def is_to_be_done_again(self) -> bool:
        """Whether a run that is taken up again does it again: infrastructure kept it from a grade."""
        return self.charged_to == "infrastructure"


def _total(usages: list[Mapping[str, Any] | None]) -> Usage:
    return sum((Usage(**usage) for usage in usages if usage), Usage())


@dataclass(slots=True)
class _Tries:
    passed: int = 0
    graded: int = 0
    all: int = 0
    score: float = 0.0


class Summary:
    """Counts the rollouts of a run."""

    def __init__(self) -> None:
        self.outcomes: Counter[Outcome] = Counter()
        self.errors: Counter[str] = Counter()
        self.unscored: Counter[str] = Counter()
        self.usage = Usage()
        self.judge_usage = Usage()
        self.retried = 0
        self.first_tries = _Tries()
        self._tasks: dict[str, _Tries] = {}

    def add(self, brief: Brief) -> None:
        """Counts one rollout."""
        self.outcomes[brief.outcome] += 1
        if brief.outcome is Outcome.ERROR:
            self.errors[brief.charged_to or "infrastructure"] += 1
        elif brief.outcome is Outcome.UNSCORED:
            self.unscored[brief.charged_to or "verifier"] += 1
        tried = [self._tasks.setdefault(brief.task, _Tries())]
        if brief.attempts > 1:
            self.retried += 1
        else:
            tried.append(self.first_tries)
        for tries in tried:
            tries.all += 1
            tries.passed += brief.outcome is Outcome.PASSED
            if brief.score is not None:
                tries.graded += 1
                tries.score += brief.score
        self.add_usage(brief)

    def add_usage(self, brief: Brief) -> None:
        """Counts only what a rollout used, as of one that is done again."""
        self.usage += brief.usage
        self.judge_usage += brief.judge_usage

    @property
    def tally(self) -> Tally:
        """How many rollouts came out how."""
        return Tally(dict(self.outcomes))

    @property
    def interval(self) -> Interval | None:
        """Wilson's 95 % interval of the pass rate of those graded."""
        return wilson(self.tally.passed, self.tally.graded)

    @property
    def most_trials(self) -> int:
        """How many grades the task has that has most."""
        return max((tries.graded for tries in self._tasks.values()), default=0)

    def pass_at(self, k: int) -> Mean | None:
        """pass@k, as the mean over the tasks with at least ``k`` graded rollouts."""
        return mean_over_tasks(pass_at(k, tries.passed, tries.graded) for tries in self._tasks.values())

    def pass_hat(self, k: int) -> Mean | None:
        """pass^k, as the mean over the tasks with at least ``k`` graded rollouts."""
        return mean_over_tasks(pass_hat(k, tries.passed, tries.graded) for tries in self._tasks.values())

    def data(self) -> dict[str, Any]:
        """The summary as JSON, without the tasks one by one."""
        tally, interval = self.tally, self.interval
        ks = counted_ks(self.most_trials)
        scores = sum(tries.score for tries in self._tasks.values())
        return {
            "outcomes": {str(outcome): number for outcome, number in sorted(self.outcomes.items())},
            "passed": tally.passed,
            "graded": tally.graded,
            "all": tally.all,
            "pass_rate": {
                "of_graded": tally.passed / tally.graded if tally.graded else None,
                "of_all": tally.passed / tally.all if tally.all else None,
                "interval": None
                if interval is None
                else {
                    "low": interval.low,
                    "high": interval.high,
                    "confidence": 0.95,
                    "method": "wilson, of graded",
                },
            },
            "mean_score": scores / tally.graded if tally.graded else None,
            "pass_at_k": [_at(k, self.pass_at(k)) for k in ks],
            "pass_hat_k": [_at(k, self.pass_hat(k)) for k in ks],
            "errors": dict(sorted(self.errors.items())),
            "unscored": dict(sorted(self.unscored.items())),
            "retried": self.retried,
            "first_try": {"passed": self.first_tries.passed, "graded": self.first_tries.graded},
            "usage": asdict(self.usage),
            "judge_usage": asdict(self.judge_usage),
        }

    def tasks(self) -> dict[str, dict[str, Any]]:
        """By task: how many rollouts passed, were graded, and were there in all, and the mean score."""
        return {
            key: {
                "passed": tries.passed,
                "graded": tries.graded,
                "all": tries.all,
                "mean_score": tries.score / tries.graded if tries.graded else None,
            }
            for key, tries in self._tasks.items()
        }


def counted_ks(most: int) -> list[int]:
    """The k of pass@k and pass^k that are worked out: 1 to 10, then each double of the one before, and ``most``."""
    if most < 2:
        return []
    doubles = (10 << times for times in range(1, most.bit_length()))
    return sorted({*range(1, min(most, 10) + 1), *(k for k in doubles if k < most), most})


def _at(k: int, mean: Mean | None) -> dict[str, Any]:
    return {"k": k, "value": None if mean is None else mean.value, "tasks": 0 if mean is None else mean.tasks}


__all__ = ["Brief", "Summary", "counted_ks"]
