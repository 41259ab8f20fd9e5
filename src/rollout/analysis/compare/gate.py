"""When a comparison is a regression that a build is to fail on."""

from __future__ import annotations

from collections.abc import Iterator

from rollout.analysis.compare import Comparison, Direction
from rollout.analysis.compare.words import (
    loses_grades,
    lower_scores,
    margin,
    more_without_grade,
    named,
    p_aside,
)


def regressions(comparison: Comparison) -> Iterator[str]:
    """Why the trained run is not let through, a sentence each; none where it is.

    Without a margin it must not be shown that the run is worse, in pass rate or score over all tasks, or in the pass
    rate of a slice. With one it has to be shown that the run is not worse by as much in either, since what is not known
    is no reason to let it through; and no slice may be shown to be worse and seen to be so by as much. In either case
    it is not let through where nothing could be compared, where it is not whole, where it is shown to have more
    rollouts without a grade, and where it has no grade of a task that the baseline has one of, unless its version has
    other tasks: it might have failed there.
    """
    asked, least = comparison.margin, 0.0
    if comparison.pass_rate is None:
        yield "No task has a grade in both runs, so a regression cannot be told."
    elif asked is not None:
        least = asked.size
        if not asked.is_shown:
            yield str(margin(comparison))
    else:
        if comparison.pass_rate.direction is Direction.WORSE:
            yield "The pass rate is lower."
        if (lower := lower_scores(comparison)) is not None:
            yield lower
    for each in comparison.slices:
        contrast = each.contrast
        if contrast.direction is Direction.WORSE and contrast.difference.value <= -least:
            yield f"The pass rate is lower in the {each.by} “{each.name}” ({p_aside(contrast)})."
    if loses_grades(comparison):
        yield str(more_without_grade(comparison))
    if comparison.trained.unfinished is not None:
        yield f"The trained run is not whole. {comparison.trained.unfinished}"
    if without := [*comparison.lost, *comparison.undone]:
        yield f"The trained run has no grade of {named(without)}."


__all__ = ["regressions"]
