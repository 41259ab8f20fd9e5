from __future__ import annotations

from fractions import Fraction

import pytest

from rollout.language.score import as_float, exact, mean, reaches


def test_tenths_add_up() -> None:
    assert mean([(0.3, 1.0), (0.4, 1.0), (0.3, 0.0)]) == Fraction(7, 10)
    assert reaches(mean([(0.3, 1.0), (0.4, 1.0), (0.3, 0.0)]), 0.7)


def test_a_small_weight_counts_beside_a_huge_one() -> None:
    score = mean([(1e9, 1.0), (1, 0.0)])
    assert not reaches(score, 1.0)
    assert as_float(mean([(10**30, 1.0), (1, 0.0)])) < 1.0


@pytest.mark.parametrize("weight", [10**400, 1e308, 5e-324])
def test_weights_may_have_any_size(weight: float) -> None:
    assert mean([(weight, 1.0), (weight, 0.0)]) == Fraction(1, 2)


def test_nothing_is_not_enough_for_the_least_threshold() -> None:
    assert not reaches(mean([(1, 0.0)]), 1e-10)
    assert not reaches(mean([(1, 0.0)]), 5e-324)


@pytest.mark.parametrize(
    ("passed", "threshold", "enough"),
    [(2, 0.6666666666666667, True), (2, 0.6667, False), (2, 0.666, True), (1, 0.34, False), (3, 1.0, True)],
)
def test_thirds_reach_what_is_meant_by_them(passed: int, threshold: float, enough: bool) -> None:
    assert reaches(mean([(1, float(number < passed)) for number in range(3)]), threshold) is enough


def test_a_float_is_full_or_empty_only_when_the_score_is() -> None:
    assert as_float(Fraction(1)) == 1.0
    assert as_float(Fraction(0)) == 0.0
    assert as_float(Fraction(1, 10**400)) > 0.0


def test_what_is_no_number_is_refused() -> None:
    with pytest.raises(ValueError, match="no number"):
        exact(float("nan"))
