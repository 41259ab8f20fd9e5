"""Tasks by what became of them, and the rows of figures, as every form of a comparison shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rollout.analysis.compare import Comparison, Pair
from rollout.analysis.compare.words import (
    p_value,
    points_words,
    rate_words,
    score_words,
    signed_words,
    slice_p,
)


class Row(NamedTuple):
    """A number in both runs, in words."""

    name: str
    tasks: int
    baseline: str
    trained: str
    difference: str
    p: str


class Groups(NamedTuple):
    """The tasks that pass less often, those that pass more often, and those that pass as before."""

    worse: Sequence[Pair]
    better: Sequence[Pair]
    same: Sequence[Pair]


def rows(comparison: Comparison) -> Iterator[Row]:
    """Pass rate, score, and the pass rate of each slice; none where nothing can be compared."""
    rate, score = comparison.pass_rate, comparison.score
    if rate is None or score is None:
        return
    yield Row(
        "pass rate",
        rate.tasks,
        rate_words(rate.baseline),
        rate_words(rate.trained),
        points_words(rate.difference),
        p_value(rate.p),
    )
    yield Row(
        "score",
        score.tasks,
        score_words(score.baseline),
        score_words(score.trained),
        signed_words(score.difference),
        p_value(score.p),
    )
    for each in comparison.slices:
        contrast = each.contrast
        yield Row(
            f"{each.by} {each.name}",
            contrast.tasks,
            rate_words(contrast.baseline),
            rate_words(contrast.trained),
            points_words(contrast.difference),
            f"{slice_p(contrast)} (Holm)",
        )


def grouped(pairs: Sequence[Pair]) -> Groups:
    """Tasks by their pass rates; the greatest differences first."""
    return Groups(
        [pair for pair in pairs if pair.difference < 0],
        sorted(
            (pair for pair in pairs if pair.difference > 0),
            key=lambda pair: (-pair.difference, -pair.interval.low, -pair.score_difference, pair.name),
        ),
        [pair for pair in pairs if pair.difference == 0],
    )


__all__ = ["Groups", "Row", "grouped", "rows"]
