"""Tasks by what became of them, and the rows of figures, as every form of a comparison shows them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from rollout.analysis.compare import Comparison, Pair
from rollout.analysis.compare.words import (
    p_words,
    points_words,
    rate_words,
    score_words,
    signed_words,
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
    """The tasks that are worse, those that are better, and those that are as before: by how often they pass, and where
    that is the same, by their scores."""

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
        p_words(rate),
    )
    yield Row(
        "score",
        score.tasks,
        score_words(score.baseline),
        score_words(score.trained),
        signed_words(score.difference),
        p_words(score),
    )
    for each in comparison.slices:
        contrast = each.contrast
        yield Row(
            f"{each.by} {each.name}",
            contrast.tasks,
            rate_words(contrast.baseline),
            rate_words(contrast.trained),
            points_words(contrast.difference),
            p_words(contrast),
        )


def grouped(pairs: Sequence[Pair]) -> Groups:
    """Tasks by their pass rates and scores; the greatest differences first."""
    ways = [(pair, pair.difference or pair.score_difference) for pair in pairs]
    return Groups(
        [pair for pair, way in ways if way < 0],
        sorted(
            (pair for pair, way in ways if way > 0),
            key=lambda pair: (-pair.difference, -pair.score_difference, -pair.interval.low, pair.name),
        ),
        [pair for pair, way in ways if not way],
    )


__all__ = ["Groups", "Row", "grouped", "rows"]
