"""How sure a mean over tasks is: against Jeffreys' interval, drawn weights, SciPy's bootstrap, and what must hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from rollout.analysis.bootstrap import mean_interval, spread

thirds = st.integers(-3, 3).map(lambda third: third / 3)
differences = st.lists(thirds | st.floats(-1, 1).map(lambda value: round(value, 3)), min_size=1, max_size=40)


def ends(values: list[float], low: float = -1.0, high: float = 1.0) -> tuple[float, float]:
    interval = mean_interval(values, low, high)
    assert interval is not None
    return interval.low, interval.high


def drawn(values: list[float], low: float, high: float) -> list[float]:
    """The same interval from 400,000 draws of the weights."""
    groups = np.array([*values, low, high])
    shapes = np.array([*(1.0 for _ in values), 0.5, 0.5])
    weights = np.random.default_rng(0).gamma(shapes, size=(400_000, len(shapes)))
    return list(np.quantile(weights @ groups / weights.sum(axis=1), [0.025, 0.975]))


@pytest.mark.parametrize(("passed", "of"), [(1, 20), (10, 20), (19, 20), (3, 50), (97, 100), (500, 1000)])
def test_of_passed_and_failed_it_is_jeffreys_interval(passed: int, of: int) -> None:
    found = ends([1.0] * passed + [0.0] * (of - passed), 0.0, 1.0)
    assert found == pytest.approx(stats.beta(passed + 0.5, of - passed + 0.5).ppf([0.025, 0.975]), abs=0.001)


@pytest.mark.parametrize(
    ("values", "off"),
    [
        ([0.0], 0.02),
        ([0.0, 1.0], 0.02),
        ([-1.0, 0.0, 0.0, 1.0, 1.0], 0.005),
        ([-1 / 3] * 4 + [0.0] * 10 + [2 / 3] * 6, 0.005),
        ([0.0] * 100, 0.001),
        ([-1.0] * 3 + [0.0] * 80 + [1.0] * 17, 0.001),
    ],
)
def test_what_is_worked_out_is_what_draws_give(values: list[float], off: float) -> None:
    assert ends(values) == pytest.approx(drawn(values, -1.0, 1.0), abs=off)


def test_of_many_tasks_it_is_the_common_bootstraps_interval() -> None:
    values = list(
        np.random.default_rng(1).choice([-1.0, -0.5, 0.0, 0.5, 1.0], 300, p=[0.1, 0.2, 0.3, 0.2, 0.2])
    )
    common = stats.bootstrap(
        (values,), np.mean, method="percentile", n_resamples=9_999, rng=np.random.default_rng(2)
    )
    assert ends(values) == pytest.approx(list(common.confidence_interval), abs=0.005)


@given(differences)
@settings(max_examples=150)
def test_it_holds_the_mean_and_stays_within_what_is_possible(values: list[float]) -> None:
    low, high = ends(values)
    assert -1 <= low <= sum(values) / len(values) + 1e-12
    assert sum(values) / len(values) - 1e-12 <= high <= 1


@given(differences)
@settings(max_examples=100)
def test_seen_the_other_way_round_it_is_mirrored(values: list[float]) -> None:
    low, high = ends(values)
    assert ends([-value for value in values]) == pytest.approx((-high, -low), abs=1e-6)


@given(st.integers(-4, 4).map(lambda fourth: fourth / 4), st.integers(1, 60))
@settings(max_examples=60)
def test_tasks_that_all_came_out_alike_do_not_make_certain(value: float, tasks: int) -> None:
    low, high = ends([value] * tasks)
    assert high - low > 1 / tasks / 2
    more = ends([value] * (tasks * 2))
    assert more[1] - more[0] < high - low


def test_a_task_or_two_leave_nearly_everything_open() -> None:
    assert ends([1.0])[0] < -0.5
    assert ends([1.0, 1.0])[0] < 0 < ends([0.5, 0.5])[1]


def test_no_tasks_have_no_interval_and_values_out_of_bounds_are_refused() -> None:
    assert mean_interval([], 0.0, 1.0) is None
    with pytest.raises(ValueError, match="from 0 to 1"):
        mean_interval([0.5, 1.5], 0.0, 1.0)


@given(differences)
def test_a_spread_is_never_nothing_and_nears_the_standard_deviation(values: list[float]) -> None:
    assert spread(values, -1.0, 1.0) > 0
    assert spread(values * 200, -1.0, 1.0) == pytest.approx(float(np.std(values)), abs=0.1)
