"""How far a run is: a bar on a terminal, a line now and then elsewhere; on stderr, apart from what is shown of it."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Protocol

from rollout.analysis.summary import Brief
from rollout.analysis.words import short
from rollout.cli.output import note
from rollout.engine import Outcome

SECONDS_BETWEEN_LINES = 10.0

_KEYS = {
    Outcome.PASSED: "passed",
    Outcome.FAILED: "failed",
    Outcome.ERROR: "errors",
    Outcome.UNSCORED: "unscored",
}


class Progress(Protocol):
    """Told of each finished rollout, or now and then of a run that is done elsewhere."""

    def count(self, brief: Brief) -> None:
        """One more is done."""

    def look(self, run: Mapping[str, Any]) -> None:
        """So far is a run of the platform now."""

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Makes room on the terminal while something else is shown."""
        yield

    def stop(self) -> None:
        """Leaves the terminal as it was."""


class Counts:
    """What a progress shows: how many are done of how many, how they came out, tokens, and the rate."""

    def __init__(self, total: int, done: int = 0, clock: Callable[[], float] = time.monotonic) -> None:
        self.total = total
        self.done = done
        self.outcomes = dict.fromkeys(Outcome, 0)
        self.tokens = 0
        self.finished = 0
        self._clock = clock
        self._begun = clock()

    def add(self, brief: Brief) -> None:
        """One more is done."""
        self.done += 1
        self.finished += 1
        self.outcomes[brief.outcome] += 1
        self.tokens += brief.usage.tokens + brief.judge_usage.tokens

    def look(self, run: Mapping[str, Any]) -> None:
        """So far is a run of the platform now; see :class:`rollout.platform.results.Run`."""
        total, done = int(run.get("n") or 0), int(run.get("progress") or 0)
        self.finished += max(0, done - self.done)
        self.total, self.done = total, done
        for outcome, key in _KEYS.items():
            self.outcomes[outcome] = int(run.get(key) or 0)
        usage = run.get("usage") or {}
        self.tokens = int(usage.get("input_tokens") or 0) + int(usage.get("output_tokens") or 0)

    @property
    def rate(self) -> float:
        """Rollouts a second, of those finished since it began."""
        elapsed = self._clock() - self._begun
        return self.finished / elapsed if elapsed > 0 else 0.0

    @property
    def words(self) -> str:
        """All but the total: ``31 passed, 2 failed, 0 errors, 12k tokens, 3.1/s``."""
        errors = self.outcomes[Outcome.ERROR]
        parts = [
            f"{self.outcomes[Outcome.PASSED]} passed",
            f"{self.outcomes[Outcome.FAILED]} failed",
            f"{errors} error{'' if errors == 1 else 's'}",
        ]
        if unscored := self.outcomes[Outcome.UNSCORED]:
            parts.append(f"{unscored} unscored")
        if self.tokens:
            parts.append(f"{short(self.tokens)} tokens")
        return ", ".join([*parts, f"{self.rate:.{1 if self.rate < 100 else 0}f}/s"])


class Lines:
    """A line every ten seconds, for logs; nothing of a run that is over before."""

    def __init__(self, counts: Counts, clock: Callable[[], float] = time.monotonic) -> None:
        self._counts = counts
        self._clock = clock
        self._next = clock() + SECONDS_BETWEEN_LINES

    def count(self, brief: Brief) -> None:
        """One more is done; says so when it is time."""
        self._counts.add(brief)
        self._say()

    def look(self, run: Mapping[str, Any]) -> None:
        """So far is a run of the platform now; says so when it is time."""
        self._counts.look(run)
        self._say()

    def _say(self) -> None:
        if self._clock() >= self._next:
            self._next = self._clock() + SECONDS_BETWEEN_LINES
            note(f"{self._counts.done} of {self._counts.total} done: {self._counts.words}")

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Lines stand in nobody's way."""
        yield

    def stop(self) -> None:
        """There is nothing to take away."""


def progress(total: int, done: int = 0, *, bar: bool = True) -> Progress:
    """The progress of a run of ``total`` rollouts of which ``done`` were done before.

    Without ``bar`` there is none, since somebody types on the terminal.
    """
    counts = Counts(total, done)
    if bar and sys.stderr.isatty() and os.environ.get("TERM") != "dumb" and not os.environ.get("CI"):
        from rollout.cli.progress_bar import Bar

        return Bar(counts)
    return Lines(counts)


__all__ = ["Counts", "Lines", "Progress", "progress"]
