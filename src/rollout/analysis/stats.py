"""The statistics of pass rates, each with the paper that its formula is from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from math import prod, sqrt

Z95 = 1.959963984540054
"""The 97.5 % quantile of the normal distribution: between minus and plus it lie 95 %."""


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval of rates, from 0 to 1."""

    low: float
    high: float


@dataclass(frozen=True, slots=True)
class Mean:
    """A mean over tasks, and how many of them it is over."""

    value: float
    tasks: int


def wilson(passed: int, of: int, *, z: float = Z95) -> Interval | None:
    """The interval of rates that ``passed`` of ``of`` independent tries speak for; None when there were none.

    The score interval of E. B. Wilson, “Probable Inference, the Law of Succession, and Statistical Inference”,
    Journal of the American Statistical Association 22 (1927), p. 209–212:
    (p + z²/2n ± z √(p(1−p)/n + z²/4n²)) / (1 + z²/n). Raises ValueError unless 0 ≤ ``passed`` ≤ ``of``.
    """
    _check(passed, of)
    if of == 0:
        return None
    rate, spread = passed / of, z * z / of
    middle = rate + spread / 2
    half = z * sqrt((rate * (1 - rate) + spread / 4) / of)
    # At the ends the formula gives exactly 0 and 1, and floating point nearly so.
    low = 0.0 if passed == 0 else max(0.0, (middle - half) / (1 + spread))
    high = 1.0 if passed == of else min(1.0, (middle + half) / (1 + spread))
    return Interval(low, high)


def pass_at(k: int, passed: int, of: int) -> float | None:
    """pass@k of one task: how likely at least one of ``k`` tries passes; None with fewer than ``k`` tries.

    The unbiased estimate 1 − C(n−c, k) / C(n, k) of M. Chen and others, “Evaluating Large Language Models Trained on
    Code” (2021), https://arxiv.org/abs/2107.03374, for c = ``passed`` of n = ``of``. Raises ValueError for k < 1.
    """
    _check(passed, of, k)
    return None if of < k else 1.0 - _share(of - passed, of, k)


def pass_hat(k: int, passed: int, of: int) -> float | None:
    """pass^k of one task: how likely all of ``k`` tries pass; None with fewer than ``k`` tries.

    The unbiased estimate C(c, k) / C(n, k) of S. Yao and others, “τ-bench” (2024),
    https://arxiv.org/abs/2406.12045, for c = ``passed`` of n = ``of``. Raises ValueError for k < 1.
    """
    _check(passed, of, k)
    return None if of < k else _share(passed, of, k)


def _share(some: int, of: int, k: int) -> float:
    """C(some, k) / C(of, k), as a product: the coefficients themselves have thousands of digits in a large run."""
    if some < k:
        return 0.0
    return prod((some - drawn) / (of - drawn) for drawn in range(k))


def mean_over_tasks(values: Iterable[float | None]) -> Mean | None:
    """The mean of one value a task, without the tasks that have none; None when no task has one."""
    known = [value for value in values if value is not None]
    return Mean(sum(known) / len(known), len(known)) if known else None


def _check(passed: int, of: int, k: int = 1) -> None:
    if not 0 <= passed <= of:
        raise ValueError(f"{passed} of {of} cannot have passed.")
    if k < 1:
        raise ValueError("k is 1 or more.")


__all__ = ["Z95", "Interval", "Mean", "mean_over_tasks", "pass_at", "pass_hat", "wilson"]
