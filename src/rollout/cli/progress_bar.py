"""The live bar of a run on a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as RichProgress

if TYPE_CHECKING:
    from rollout.analysis.summary import Brief
    from rollout.cli.progress import Counts

_DRAWN_A_SECOND = 4


class Bar:
    """Draws itself in a thread of its own, so that it also moves while nothing is finished."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._bar = RichProgress(
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[words]}", markup=False),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            refresh_per_second=_DRAWN_A_SECOND,
            transient=True,
        )
        self._task = self._bar.add_task("", total=counts.total, completed=counts.done, words="")
        self._bar.start()

    def count(self, brief: Brief) -> None:
        """One more is done."""
        self._counts.add(brief)
        self._draw()

    def look(self, run: Mapping[str, Any]) -> None:
        """So far is a run of the platform now."""
        self._counts.look(run)
        self._draw()

    def _draw(self) -> None:
        counts = self._counts
        self._bar.update(self._task, completed=counts.done, total=counts.total, words=counts.words)

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Takes the bar away while something else is shown."""
        self._bar.stop()
        try:
            yield
        finally:
            self._bar.start()

    def stop(self) -> None:
        """Takes the bar away."""
        self._bar.stop()


__all__ = ["Bar"]
