"""A comparison as one HTML page that needs nothing from elsewhere: figures, plots and the table of tasks, no script."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import rollout
from rollout.analysis.compare import Comparison, Contrast, Estimate, Pair
from rollout.analysis.compare.groups import grouped, rows
from rollout.analysis.compare.words import (
    METHOD,
    answers,
    count,
    ends,
    headline,
    notes,
    points,
    points_words,
    power,
    rate_words,
    signed,
    tally_words,
    tries,
)
from rollout.analysis.report.parts import HERE as PARTS
from rollout.analysis.report.parts import asset, policy, rendered
from rollout.analysis.report.texts import Texts

MOST_TASKS = 1_000
"""So many tasks of a kind are in the page."""

HERE = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class Whisker:
    """An interval with its value, in percent of the width of a plot, and what it is in words."""

    value: float
    low: float
    high: float
    words: str


@dataclass(frozen=True, slots=True)
class Task:
    """A task in words, and its difference for the plot."""

    name: str
    split: str
    tries: str
    score: str
    drawn: Whisker


def write_page(comparison: Comparison, stream: IO[bytes], *, secrets: Iterable[str] = ()) -> None:
    """Writes the page. Texts in ``secrets``, and whatever has the shape of a key, are hidden. Raises OSError."""
    style = asset(PARTS / "page.css") + asset(HERE / "page.css")
    page = {
        "policy": policy(styles=[style]),
        "style": style,
        "version": rollout.__version__,
        **told(comparison, Texts(secrets)),
    }
    stream.write(rendered(HERE / "page.html.jinja", page).encode())


def told(comparison: Comparison, texts: Texts) -> dict[str, Any]:
    """What ``sections.html.jinja`` is told of a comparison."""
    before, after = comparison.baseline, comparison.trained
    found = grouped(comparison.pairs)
    return {
        "environment": texts.line(before.environment, 120),
        "models": (texts.line(before.model, 120), texts.line(after.model, 120)),
        "verdict": str(comparison.direction),
        "headline": texts.line(headline(comparison)),
        "answers": [texts.line(each, 2_000) for each in answers(comparison)],
        "sides": [
            (name, texts.line(tally.label), texts.line(tally.model, 120), texts.line(tally_words(tally)))
            for name, tally in (("Baseline", before), ("Trained", after))
        ],
        "rows": [tuple(texts.line(cell) for cell in row) for row in rows(comparison)],
        "plots": _plots(comparison, texts),
        "groups": [
            (title, count(len(pairs), "task"), _tasks(pairs, texts), max(0, len(pairs) - MOST_TASKS))
            for title, pairs in (("Worse", found.worse), ("Better", found.better), ("As before", found.same))
            if pairs
        ],
        "notes": [texts.line(note, 2_000) for note in (*notes(comparison), *power(comparison))],
        "method": " ".join(METHOD),
    }


def _plots(comparison: Comparison, texts: Texts) -> list[tuple[str, Whisker, Whisker, Whisker]]:
    """Of all tasks, and of each slice: both pass rates, and the difference."""
    if comparison.pass_rate is None:
        return []
    named: list[tuple[str, Contrast]] = [("all tasks", comparison.pass_rate)]
    named += [(texts.line(f"{each.by} {each.name}", 80), each.contrast) for each in comparison.slices]
    return [
        (
            name,
            _drawn(contrast.baseline, _rate_place, rate_words),
            _drawn(contrast.trained, _rate_place, rate_words),
            _drawn(contrast.difference, _difference_place, points_words),
        )
        for name, contrast in named
    ]


def _drawn(estimate: Estimate, place: Callable[[float], float], words: Callable[[Estimate], str]) -> Whisker:
    low, high = ends(estimate.interval)
    return Whisker(place(estimate.value), place(low), place(high), words(estimate))


def _rate_place(rate: float) -> float:
    return rate * 100


def _difference_place(difference: float) -> float:
    return (difference + 1) * 50


def _tasks(pairs: Sequence[Pair], texts: Texts) -> list[Task]:
    shown = []
    for pair in pairs[:MOST_TASKS]:
        low, high = ends(pair.interval)
        words = f"{points(pair.difference)} points ({points(low)} to {points(high)})"
        drawn = Whisker(
            _difference_place(pair.difference), _difference_place(low), _difference_place(high), words
        )
        shown.append(
            Task(
                texts.line(pair.name, 120),
                texts.line(pair.split, 80),
                tries(pair),
                signed(pair.score_difference),
                drawn,
            )
        )
    return shown


__all__ = ["HERE", "MOST_TASKS", "told", "write_page"]
