"""Tests, intervals and power: against SciPy and statsmodels, known values, and what holds for all of them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.contingency_tables import mcnemar as their_mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.power import NormalIndPower
from statsmodels.stats.proportion import confint_proportions_2indep

from rollout.analysis.inference import (
    holm,
    mcnemar,
    minimum_detectable,
    newcombe,
    sign_flip,
    tasks_needed,
    trials_needed,
    within_task_variance,
)

quarters = st.integers(-4, 4).map(lambda quarter: quarter / 4)
counts = st.integers(1, 30).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))


@given(st.integers(0, 400), st.integers(0, 400))
def test_mcnemars_test_is_that_of_statsmodels(before: int, after: int) -> None:
    theirs = their_mcnemar([[10, before], [after, 10]], exact=True).pvalue if before + after else 1.0
    assert mcnemar(before, after) == pytest.approx(theirs, rel=1e-9)


@given(st.lists(quarters, min_size=2, max_size=8))
@settings(max_examples=40)
def test_flipping_signs_is_the_permutation_test_of_scipy(values: list[float]) -> None:
    theirs = stats.permutation_test(
        (np.array(values),),
        lambda sample, axis: np.mean(sample, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=np.inf,
    )
    found = sign_flip(values)
    assert found.draws is None
    # SciPy doubles the smaller tail, which for flipped signs is both tails.
    assert found.p == pytest.approx(theirs.pvalue)


@given(st.integers(0, 8), st.integers(0, 8), st.integers(0, 20))
def test_with_one_trial_a_task_flipping_signs_is_mcnemars_test(before: int, after: int, same: int) -> None:
    values = [-1.0] * before + [1.0] * after + [0.0] * same
    assert sign_flip(values) == (pytest.approx(mcnemar(before, after)), None)


@pytest.mark.parametrize(("before", "after"), [(10, 25), (20, 20), (40, 60), (300, 360)])
def test_drawn_flips_are_near_to_all_of_them_and_always_the_same(before: int, after: int) -> None:
    values = [-1.0] * before + [1.0] * after
    found = sign_flip(values)
    assert found.draws == 20_000
    assert found.p == pytest.approx(mcnemar(before, after), abs=0.012)
    assert sign_flip(values[::-1]) == found


def test_drawn_flips_of_differences_that_are_all_others_are_those_of_scipy() -> None:
    values = np.random.default_rng(3).normal(0.02, 0.1, 100)
    theirs = stats.permutation_test(
        (values,),
        lambda sample, axis: np.mean(sample, axis=axis),
        permutation_type="samples",
        vectorized=True,
        n_resamples=20_000,
        rng=np.random.default_rng(4),
    )
    found = sign_flip(list(values))
    assert found == sign_flip(list(values[::-1]))
    assert found.p == pytest.approx(theirs.pvalue, abs=0.012)


def test_no_draw_makes_a_p_value_of_nothing() -> None:
    assert sign_flip([0.7] * 400).p == 1 / 20_001


@pytest.mark.parametrize("tasks", range(6))
def test_fewer_than_six_tasks_never_show_a_difference(tasks: int) -> None:
    assert mcnemar(0, tasks) > 0.05 and sign_flip([1.0] * tasks).p > 0.05
    assert mcnemar(0, 6) < 0.05 and sign_flip([0.1] * 6).p < 0.05


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holms_values_are_those_of_statsmodels(values: list[float]) -> None:
    assert holm(values) == pytest.approx(list(multipletests(values, method="holm")[1]))


def test_holms_method_of_known_values() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []


@given(counts, counts)
def test_newcombes_interval_is_that_of_statsmodels(before: tuple[int, int], after: tuple[int, int]) -> None:
    found = newcombe(*before, *after)
    theirs = confint_proportions_2indep(*after, *before, method="newcomb")
    assert found is not None
    assert (found.low, found.high) == pytest.approx(theirs, abs=1e-9)
    assert found.low - 1e-12 <= after[0] / after[1] - before[0] / before[1] <= found.high + 1e-12


def test_newcombes_own_example() -> None:
    # 56 of 70 against 48 of 80 is +0.2, from 0.0524 to 0.3339, in table II of his paper.
    found = newcombe(48, 80, 56, 70)
    assert found is not None
    assert (found.low, found.high) == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert newcombe(0, 0, 1, 1) is None


@given(st.floats(0.05, 1.0), st.integers(2, 5_000))
def test_the_detectable_difference_is_that_of_statsmodels(spread: float, tasks: int) -> None:
    theirs = NormalIndPower().solve_power(nobs1=tasks, alpha=0.05, power=0.8, ratio=0) * spread
    assert minimum_detectable(spread, tasks) == pytest.approx(theirs, rel=1e-4)


@given(st.floats(0.05, 1.0), st.integers(2, 5_000))
def test_it_takes_as_many_tasks_as_detect_the_difference(spread: float, tasks: int) -> None:
    assert tasks_needed(spread, minimum_detectable(spread, tasks)) == tasks


@given(st.lists(counts, min_size=1, max_size=20))
def test_the_variance_within_tasks_is_the_mean_of_their_sample_variances(
    tasks: list[tuple[int, int]],
) -> None:
    theirs = [np.var([1] * passed + [0] * (of - passed), ddof=1) for passed, of in tasks if of > 1]
    found = within_task_variance(tasks)
    assert found == (pytest.approx(np.mean(theirs)) if theirs else None)


@given(st.floats(0.001, 0.2), st.floats(0.01, 0.5), st.integers(5, 500), st.floats(0.01, 0.5))
def test_so_many_trials_make_the_difference_detectable_and_one_fewer_does_not(
    between: float, within: float, tasks: int, difference: float
) -> None:
    def detectable(trials: int) -> float:
        return minimum_detectable((between + within / trials) ** 0.5, tasks)

    trials = trials_needed(between, within, tasks, difference)
    if trials is None:
        assert detectable(10**9) >= difference * (1 - 1e-6)
    else:
        assert detectable(trials) <= difference * (1 + 1e-6)
        assert trials == 1 or detectable(trials - 1) > difference * (1 - 1e-6)
