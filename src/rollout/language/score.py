"""Scores: the weighted mean of what primitives said, and whether it reaches the threshold.

Numbers are taken as they are written: 0.3 is three tenths, not the binary number next to it. So there is no rounding to
allow for, weights may be as large as they like, and a weight of 1 beside one of 1,000,000,000 still counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Final

# A value that a primitive divided out, such as 0.6666666666666666, may be one step of a float away from what is meant.
_SLACK: Final = Fraction(1, 10**12)


def exact(number: float | Fraction) -> Fraction:
    """A finite number as it is written; raises ValueError for NaN and infinities."""
    if isinstance(number, float):
        if not math.isfinite(number):
            raise ValueError(f"{number} is no number to reckon with")
        return Fraction(repr(number))
    return Fraction(number)


def mean(weighed: Iterable[tuple[float | Fraction, float | Fraction]]) -> Fraction:
    """The mean of values by their weights, from pairs of weight and value; raises ZeroDivisionError without weight."""
    total = score = Fraction(0)
    for weight, value in weighed:
        total += exact(weight)
        score += exact(weight) * exact(value)
    return score / total


def reaches(score: Fraction, threshold: float | Fraction) -> bool:
    """Whether a score passes: never one of 0, and where the threshold is 1 only a full one."""
    wanted = exact(threshold)
    if score <= 0:
        return False
    return score >= (wanted if wanted >= 1 else wanted * (1 - _SLACK))


def as_float(score: Fraction) -> float:
    """The float next to a score from 0 to 1, but 1 only for a full score, and 0 only for none."""
    near = float(score)
    if near >= 1 > score:
        return math.nextafter(1.0, 0.0)
    if near <= 0 < score:
        return math.ulp(0.0)
    return near


__all__ = ["as_float", "exact", "mean", "reaches"]
