"""Whether two runs differ, and how much it takes to know: tests, intervals and power, each with its source."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate, islice
from math import ceil, sqrt
from operator import getitem
from random import Random
from statistics import NormalDist
from typing import NamedTuple

from rollout.analysis.stats import Interval, wilson

SIGNIFICANT = 0.05
"""A p-value up to this is taken for more than chance."""

POWER = 0.8
"""How likely a difference is to be found that is said to be detectable."""

FLIPS = 20_000
"""So many of the ways to flip signs are drawn where there are too many to go through."""

_MOST_TO_GO_THROUGH = 16
_MOST_SIZES = 50
_Z = NormalDist().inv_cdf(1 - SIGNIFICANT / 2) + NormalDist().inv_cdf(POWER)


class FlipTest(NamedTuple):
    """A p-value, and of how many draws it is; None when all ways were gone through."""

    p: float
    draws: int | None


def mcnemar(only_before: int, only_after: int) -> float:
    """How likely so unequal a count of changes is, two-sided, if a change goes either way alike.

    ``only_before`` and ``only_after`` are how many tasks passed in one run only, with one trial a task. The exact
    (binomial) form of the test of Q. McNemar, “Note on the sampling error of the difference between correlated
    proportions or percentages”, Psychometrika 12 (1947), p. 153–157.
    """
    changed, fewer = only_before + only_after, min(only_before, only_after)
    ways, so_many = 0, 1
    for amount in range(fewer + 1):
        ways += so_many
        so_many = so_many * (changed - amount) // (amount + 1)
    return min(1.0, 2 * ways / (1 << changed))


def sign_flip(differences: Sequence[float], *, flips: int = FLIPS, seed: int = 0) -> FlipTest:
    """How likely so large a mean of paired differences is, two-sided, if each had as well been the other way round.

    The paired permutation test of R. A. Fisher, “The Design of Experiments” (1935), section 21. Up to 16 differences
    that are not 0, all ways are gone through; of more, ``flips`` are drawn from ``seed``, and the p-value is
    (b + 1) / (flips + 1), as B. Phipson and G. K. Smyth, “Permutation P-values Should Never Be Zero”, Statistical
    Applications in Genetics and Molecular Biology 9 (2010), article 39, have it.
    """
    moved = [abs(difference) for difference in differences if difference]
    if not moved:
        return FlipTest(1.0, None)
    # Sums of floating-point numbers that are equal on paper may differ in the last places.
    least = abs(sum(differences)) - 1e-9 * sum(moved)
    if len(moved) <= _MOST_TO_GO_THROUGH:
        sums = [0.0]
        for size in moved:
            sums = [each + way for each in sums for way in (size, -size)]
        return FlipTest(sum(abs(each) >= least for each in sums) / len(sums), None)
    sizes = Counter(moved)
    drawn = _sums_by_count(sizes, seed) if len(sizes) <= _MOST_SIZES else _sums_by_eights(moved, seed)
    found = sum(abs(each) >= least for each in islice(drawn, flips))
    return FlipTest((found + 1) / (flips + 1), flips)


def _sums_by_count(sizes: Mapping[float, int], seed: int) -> Iterator[float]:
    """Sums of differences whose signs are drawn: how many of equal ones stay is how many bits of a number are set."""
    draw = Random(seed).getrandbits
    groups = [(2 * size, amount) for size, amount in sorted(sizes.items())]
    whole = sum(size * amount for size, amount in sizes.items())
    while True:
        yield sum(size * draw(amount).bit_count() for size, amount in groups) - whole


def _sums_by_eights(moved: Sequence[float], seed: int) -> Iterator[float]:
    """The same where hardly any are equal: a byte says which of eight stay, and a table what these come to."""
    draw = Random(seed).randbytes
    tables = []
    ordered = sorted(moved)
    for start in range(0, len(ordered), 8):
        sums = [0.0]
        for size in ordered[start : start + 8]:
            sums = [each + way for each in sums for way in (size, -size)]
        tables.append(sums * (256 // len(sums)))
    while True:
        yield sum(map(getitem, tables, draw(len(tables))))


def holm(values: Sequence[float]) -> list[float]:
    """The p-values of several tests, adjusted so that 1 in 20 such families has a false finding, not 1 in 20 tests.

    The step-down method of S. Holm, “A Simple Sequentially Rejective Multiple Test Procedure”, Scandinavian Journal of
    Statistics 6 (1979), p. 65–70: of m values in rising order, the i-th (from 0) times m − i, and never below the one
    before.
    """
    order = sorted(range(len(values)), key=lambda index: values[index])
    raised = (min(1.0, (len(values) - rank) * values[index]) for rank, index in enumerate(order))
    adjusted = dict(zip(order, accumulate(raised, max), strict=True))
    return [adjusted[index] for index in range(len(values))]


def newcombe(passed_before: int, before: int, passed_after: int, after: int) -> Interval | None:
    """The 95 % interval of the difference of two pass rates of independent trials, as of one task in two runs.

    Method 10 of R. G. Newcombe, “Interval estimation for the difference between independent proportions: comparison of
    eleven methods”, Statistics in Medicine 17 (1998), p. 873–890, which joins Wilson's intervals of the two. None where
    there are no trials.
    """
    first, second = wilson(passed_before, before), wilson(passed_after, after)
    if first is None or second is None:
        return None
    p, q = passed_before / before, passed_after / after
    low = q - p - sqrt((q - second.low) ** 2 + (first.high - p) ** 2)
    high = q - p + sqrt((second.high - q) ** 2 + (p - first.low) ** 2)
    return Interval(max(-1.0, low), min(1.0, high))


def minimum_detectable(spread: float, tasks: int) -> float:
    """The difference that is found 8 times in 10, at 5 % two-sided: (z₀.₉₇₅ + z₀.₈) · spread / √tasks.

    ``spread`` is the standard deviation of the differences over tasks. H. S. Bloom, “Minimum Detectable Effects: A
    Simple Way to Report the Statistical Power of Experimental Designs”, Evaluation Review 19 (1995), p. 547–556.
    """
    return _Z * spread / sqrt(tasks)


def tasks_needed(spread: float, difference: float) -> int:
    """How many tasks it takes for ``difference`` to be found 8 times in 10: the formula before, for the tasks."""
    return ceil((_Z * spread / difference) ** 2 - 1e-9)


def within_task_variance(counts: Sequence[tuple[int, int]]) -> float | None:
    """The variance of one trial within a task, as the mean over tasks of p(1 − p) n / (n − 1), which is unbiased.

    ``counts`` are passed and graded of each task; those with one trial say nothing. None where all are so.
    """
    known = [passed * (of - passed) / (of * (of - 1)) for passed, of in counts if of > 1]
    return sum(known) / len(known) if known else None


def trials_needed(between: float, within: float, tasks: int, difference: float) -> int | None:
    """How many trials of each of the same ``tasks``, in either run, it takes for ``difference`` to be found 8 times
    in 10; None where no number would do.

    tasks = (z₀.₉₇₅ + z₀.₈)² (between + within / trials) / difference², solved for the trials: the sample-size formula
    of E. Miller, “Adding Error Bars to Evals” (2024), https://arxiv.org/abs/2411.00640. ``between`` is the variance
    over tasks of the difference itself, ``within`` the sum of both runs' variances of a trial within a task.
    """
    room = tasks * (difference / _Z) ** 2 - between
    if room <= 0 or within <= 0:
        return None
    return max(1, ceil(within / room - 1e-9))


__all__ = [
    "FLIPS",
    "POWER",
    "SIGNIFICANT",
    "FlipTest",
    "holm",
    "mcnemar",
    "minimum_detectable",
    "newcombe",
    "sign_flip",
    "tasks_needed",
    "trials_needed",
    "within_task_variance",
]
