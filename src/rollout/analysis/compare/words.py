"""What a comparison says, in sentences that all its forms share."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from rollout.analysis.compare import Comparison, Contrast, Direction, Estimate, Pair, Pairing, Tally
from rollout.analysis.inference import SIGNIFICANT
from rollout.analysis.stats import Interval
from rollout.analysis.words import number, percent

METHOD = (
    "A task counts as much as any other, however many trials it has.",
    "Intervals are 95 %. Over tasks they are of the Bayesian bootstrap, worked out without drawing.",
    "Of one task they are Newcombe's, and not adjusted for there being many tasks.",
)
"""How the numbers came about."""

_MOST_NAMED = 5

_PAIRED = {
    Pairing.ASKED: "Tasks are paired by what they ask, instruction and input; what is wanted of them is not known.",
    Pairing.ID: "Tasks are paired by their ids alone, since it is not known what they ask: one id may be two tasks.",
}


def points(difference: float) -> str:
    """A difference of rates in percentage points, with its sign: ``+4.2``, ``−0.5``, ``0``."""
    size = abs(difference) * 100
    text = f"{size:.1f}".removesuffix(".0")
    if text == "0" and size > 0:
        text = f"{size:.1g}" if size >= 0.001 else "0.001"
    return text if text == "0" else f"{'−' if difference < 0 else '+'}{text}"


def signed(difference: float) -> str:
    """A difference of scores, with its sign: ``+0.042``."""
    size = abs(difference)
    text = f"{size:.3f}".rstrip("0").rstrip(".")
    if text == "0" and size >= 0.00001:
        text = f"{size:.1g}"
    return text if text == "0" else f"{'−' if difference < 0 else '+'}{text}"


def p_value(p: float) -> str:
    """``p = 0.034``, or ``p < 0.0001``."""
    return "p < 0.0001" if p < 0.0001 else f"p = {p:.2g}"


def count(amount: int, noun: str) -> str:
    """``1 task``, ``1,200 tasks``."""
    return f"{amount:,} {noun}{'s' * (amount != 1)}"


def rate_words(estimate: Estimate) -> str:
    """``52.8 % (36.5 to 68.6)``."""
    low, high = (percent(end).removesuffix(" %") for end in ends(estimate.interval))
    return f"{percent(estimate.value)} ({low} to {high})"


def points_words(estimate: Estimate) -> str:
    """``+4.2 points (−1 to +9.4)``."""
    low, high = (points(end) for end in ends(estimate.interval))
    return f"{points(estimate.value)} points ({low} to {high})"


def score_words(estimate: Estimate) -> str:
    """``0.61 (0.48 to 0.73)``."""
    low, high = (number(end) for end in ends(estimate.interval))
    return f"{number(estimate.value)} ({low} to {high})"


def signed_words(estimate: Estimate) -> str:
    """``+0.05 (−0.01 to +0.11)``."""
    low, high = (signed(end) for end in ends(estimate.interval))
    return f"{signed(estimate.value)} ({low} to {high})"


def ends(interval: Interval) -> tuple[float, float]:
    """Both ends of an interval."""
    return interval.low, interval.high


def headline(comparison: Comparison) -> str:
    """The answer: better, worse or not decided, by how much, and how sure that is."""
    rate, score = comparison.pass_rate, comparison.score
    if rate is None or score is None:
        return "Nothing can be compared: no task has a grade in both runs."
    word = {
        Direction.BETTER: "Better",
        Direction.WORSE: "Worse",
        Direction.MIXED: "Worse and better",
        Direction.UNDECIDED: "Not decided",
    }[comparison.direction]
    said = [(rate.direction, _change("pass rate", rate, points, " points"))]
    if score.adjusted is not None and score.direction is not Direction.UNDECIDED:
        said.append((score.direction, _change("score", score, signed, "")))
    order = (Direction.WORSE, Direction.BETTER, Direction.UNDECIDED)
    said.sort(key=lambda each: order.index(each[0]))
    return f"{word}: over {count(rate.tasks, 'task')} {'; '.join(words for _, words in said)}."


def _change(name: str, contrast: Contrast, words: Callable[[float], str], unit: str) -> str:
    low, high = (words(end) for end in ends(contrast.difference.interval))
    seen = contrast.difference.value
    way = "higher" if seen > 0 else "lower"
    what = f"{words(seen)[1:]}{unit} {way}" if words(seen) != "0" else "the same"
    return f"the {name} is {what} (95 % interval {low} to {high}; {p_aside(contrast)}, {contrast.test})"


def where(comparison: Comparison) -> str | None:
    """In which slices it is worse, and in which better; None where that can be said of none."""
    found = [
        f"{words} in {_joined([f'the {each.by} “{each.name}”' for each in slices])}"
        for direction, words in ((Direction.WORSE, "worse"), (Direction.BETTER, "better"))
        if (slices := [each for each in comparison.slices if each.contrast.direction is direction])
    ]
    if not found:
        return None
    sentence = "; ".join(found)
    return f"{sentence[0].upper()}{sentence[1:]}."


def answers(comparison: Comparison) -> Iterator[str]:
    """What belongs to the answer besides: in which slices, within which margin, and what it may be flattered by."""
    flattering = more_without_grade(comparison) if loses_grades(comparison) else None
    yield from (each for each in (where(comparison), margin(comparison), flattering) if each is not None)


def loses_grades(comparison: Comparison) -> bool:
    """Whether it is shown that the trained run has more rollouts without a grade."""
    found = comparison.no_grade
    return found is not None and found.difference.value > 0 and found.p <= SIGNIFICANT


def tally_words(tally: Tally) -> str:
    """The rollouts of a run: how they came out, and both rates."""
    parts = [f"{tally.passed:,} passed", f"{tally.failed:,} failed"]
    for amounts, noun in ((tally.errors, "error"), (tally.unscored, None)):
        if amounts:
            charged = ", ".join(f"{amount:,} to the {whom}" for whom, amount in amounts.items())
            all_of_them = sum(amounts.values())
            told = f"{all_of_them:,} unscored" if noun is None else count(all_of_them, noun)
            parts.append(f"{told} (charged {charged})")
    rates = (
        f"; {percent(tally.passed / tally.graded)} of {tally.graded:,} graded, "
        f"{percent(tally.passed / tally.all)} of all"
        if tally.graded
        else ""
    )
    return f"{count(tally.all, 'rollout')}: {', '.join(parts)}{rates}"


def notes(comparison: Comparison) -> Iterator[str]:
    """What has to be known besides: other versions and settings, what is left out, how many trials there were."""
    if comparison.is_itself:
        yield "Both are the same run, so nothing can differ."
    for which, tally in (("baseline", comparison.baseline), ("trained run", comparison.trained)):
        if tally.unfinished is not None:
            yield f"The {which} is not whole. {tally.unfinished}"
    if comparison.versions:
        changed = _joined([f"the {part}" for part in comparison.versions])
        yield f"The runs are of different versions: {changed} changed between them."
    if not comparison.is_version_known:
        yield (
            "It is not known whether the environment was the same in both runs: the endpoint says no digest of it."
        )
    if comparison.pairing in _PAIRED:
        yield _PAIRED[comparison.pairing]
    if comparison.settings:
        yield f"The runs also differ in {'; '.join(comparison.settings)}."
    if comparison.lost:
        yield (
            f"Left out, since the trained run has no grade of them, though the baseline has: {named(comparison.lost)}."
        )
    if comparison.ungraded:
        yield f"Left out, since the baseline has no grade of them: {named(comparison.ungraded)}."
    if (flattering := more_without_grade(comparison)) is not None and not loses_grades(comparison):
        yield flattering
    for names, which in ((comparison.only_baseline, "baseline"), (comparison.only_trained, "trained run")):
        if names:
            yield f"Left out, since only the {which} has them: {named(names)}."
    for group in comparison.merged:
        yield f"Taken for one task, since they are the same: {named(group)}."
    yield from _trials(comparison.pairs)


def _trials(pairs: Sequence[Pair]) -> Iterator[str]:
    if not pairs:
        return
    before = {pair.baseline.graded for pair in pairs}
    after = {pair.trained.graded for pair in pairs}
    if before != after or len(before) > 1:
        yield (
            f"Graded trials a task: {_range(before)} in the baseline, {_range(after)} in the trained run. "
            "A task's rate is of the trials it has."
        )


def _range(amounts: set[int]) -> str:
    least, most = min(amounts), max(amounts)
    return f"{least}" if least == most else f"{least} to {most}"


def power(comparison: Comparison) -> Iterator[str]:
    """What could be found with these tasks, and what would settle the matter."""
    found, rate = comparison.power, comparison.pass_rate
    if found is None or rate is None:
        return
    if rate.tasks < 6:
        yield (
            f"{count(rate.tasks, 'task')} can never show a difference at the 5 % level, whatever the trials; 6 can, "
            "if all go one way."
        )
    elif found.detectable is None:
        yield f"No difference would be found 8 times in 10 with {count(rate.tasks, 'task')} that vary so much."
    else:
        yield (
            f"With these tasks and trials, a difference of {points(found.detectable)[1:]} points is found 8 times in "
            "10; a smaller one is missed more often."
        )
    if found.tasks is not None:
        trials = sum(
            sum(counts) / len(counts)
            for counts in (
                [pair.baseline.graded for pair in comparison.pairs],
                [pair.trained.graded for pair in comparison.pairs],
            )
        )
        more = round((found.tasks - rate.tasks) * trials)
        yield (
            f"If {points(rate.difference.value)} points is real, about {found.tasks:,} tasks like these would settle "
            f"it ({more:,} more rollouts in both runs together)."
        )
    if found.trials is not None:
        have = sum(pair.baseline.graded + pair.trained.graded for pair in comparison.pairs)
        more = 2 * found.trials * rate.tasks - have
        yield (
            f"Or, for these tasks alone, {found.trials:,} trials of each in both runs ({more:,} more rollouts)."
        )


def margin(comparison: Comparison) -> str | None:
    """Whether it is shown that the trained run is not worse by more than the margin."""
    asked = comparison.margin
    if asked is None:
        return None
    size = points(asked.size)[1:]
    if asked.is_shown:
        if asked.least_score is not None:
            return f"Shown: neither the pass rate nor the score is lower by {size} points or more."
        return f"Shown: the pass rate is not lower by {size} points or more."
    sentence = f"Not shown that the pass rate is not lower by {size} points or more"
    if asked.least is None:
        return f"{sentence}."
    is_bound = comparison.no_grade is not None and comparison.no_grade.trained.value > 0
    is_bound |= bool(comparison.undone)
    bound = ", if what has no grade had failed" if is_bound else ""
    said = []
    if asked.least.interval.low <= -asked.size:
        said.append(f"{sentence}: it may be {points(asked.least.interval.low)} points{bound}.")
    if asked.least_score is not None and asked.least_score.interval.low <= -asked.size:
        sentence = f"Not shown that the score is not lower by {asked.size:g} or more"
        said.append(f"{sentence}: it may be {signed(asked.least_score.interval.low)}{bound}.")
    return " ".join(said)


def more_without_grade(comparison: Comparison) -> str | None:
    """That the trained run has more rollouts without a grade than the baseline has; None where it has not."""
    found = comparison.no_grade
    if found is None or found.difference.value <= 0:
        return None
    return (
        f"Of the rollouts of a task, {percent(found.trained.value)} have no grade in the trained run, and "
        f"{percent(found.baseline.value)} in the baseline ({p_value(found.p)}). "
        "What has none may be what would have failed."
    )


def p_words(contrast: Contrast) -> str:
    """The p-value by which a verdict is given: with the other questions in mind, where there are some."""
    return p_value(contrast.p) if contrast.adjusted is None else f"{p_value(contrast.adjusted)} (Holm)"


def p_aside(contrast: Contrast) -> str:
    """The same where it stands in brackets: ``p = 0.016, Holm``."""
    return p_words(contrast).replace(" (Holm)", ", Holm")


def lower_scores(comparison: Comparison) -> str | None:
    """That the score is lower, and in which tasks; None where that is not shown of it as a question of its own."""
    score = comparison.score
    if score is None or score.adjusted is None or score.direction is not Direction.WORSE:
        return None
    lower = [pair for pair in comparison.pairs if pair.score_difference < 0]
    lower.sort(key=lambda pair: (pair.score_difference, pair.name))
    names = named([pair.name for pair in lower])
    return (
        f"The score is lower ({p_aside(score)}): in {len(lower):,} of {count(score.tasks, 'task')}, {names}."
    )


def alike(pairs: Sequence[Pair]) -> str:
    """How many tasks have the same pass rate and score in both runs."""
    return f"As before: {count(len(pairs), 'task')}"


def tries(pair: Pair) -> str:
    """``2 of 3 → 3 of 3``."""
    before, after = pair.baseline, pair.trained
    return f"{before.passed} of {before.graded} → {after.passed} of {after.graded}"


def named(names: Sequence[str]) -> str:
    """The first few names, and how many more there are."""
    shown = ", ".join(f"“{name}”" for name in names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return shown if more <= 0 else f"{shown} and {count(more, 'more task')}"


def _joined(names: Sequence[str]) -> str:
    return " and ".join(names)


__all__ = [
    "METHOD",
    "alike",
    "answers",
    "count",
    "ends",
    "headline",
    "loses_grades",
    "lower_scores",
    "margin",
    "more_without_grade",
    "named",
    "notes",
    "p_aside",
    "p_value",
    "p_words",
    "points",
    "points_words",
    "power",
    "rate_words",
    "score_words",
    "signed",
    "signed_words",
    "tally_words",
    "tries",
    "where",
]
