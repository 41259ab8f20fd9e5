"""Rates with their uncertainty: known values, and what holds for all of them."""

from __future__ import annotations

from itertools import combinations
from math import isclose

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.analysis.stats import Mean, mean_over_tasks, pass_at, pass_hat, wilson

counts = st.integers(0, 200).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))


@pytest.mark.parametrize(
    ("passed", "of", "low", "high"),
    # R's prop.test(…, correct = FALSE) gives these.
    [
        (8, 10, 0.4901625, 0.9433178),
        (0, 10, 0.0, 0.2775328),
        (10, 10, 0.7224672, 1.0),
        (1, 1, 0.2065493, 1.0),
    ],
)
def test_wilsons_interval_of_known_counts(passed: int, of: int, low: float, high: float) -> None:
    interval = wilson(passed, of)
    assert interval is not None
    assert interval.low == pytest.approx(low, abs=1e-6)
    assert interval.high == pytest.approx(high, abs=1e-6)


@given(counts)
def test_wilsons_interval_holds_the_rate_and_stays_within_0_and_1(count: tuple[int, int]) -> None:
    passed, of = count
    interval = wilson(passed, of)
    if of == 0:
        assert interval is None
    else:
        assert interval is not None
        assert 0 <= interval.low <= passed / of <= interval.high <= 1
        assert (interval.low == 0) == (passed == 0) and (interval.high == 1) == (passed == of)


@given(counts)
def test_wilsons_interval_is_the_same_seen_from_the_failures(count: tuple[int, int]) -> None:
    passed, of = count
    ours, theirs = wilson(passed, of), wilson(of - passed, of)
    if ours is not None and theirs is not None:
        assert isclose(ours.low, 1 - theirs.high, abs_tol=1e-12)


@given(st.integers(1, 7), st.integers(1, 7), st.data())
@settings(max_examples=60)
def test_pass_at_k_and_pass_hat_k_are_what_counting_all_draws_gives(
    k: int, of: int, data: st.DataObject
) -> None:
    passed = data.draw(st.integers(0, of))
    tries = [True] * passed + [False] * (of - passed)
    draws = list(combinations(tries, k))
    if not draws:
        assert pass_at(k, passed, of) is None and pass_hat(k, passed, of) is None
        return
    assert pass_at(k, passed, of) == pytest.approx(sum(map(any, draws)) / len(draws))
    assert pass_hat(k, passed, of) == pytest.approx(sum(map(all, draws)) / len(draws))


@given(counts)
def test_with_one_try_both_are_the_rate(count: tuple[int, int]) -> None:
    passed, of = count
    if of:
        assert pass_at(1, passed, of) == pytest.approx(passed / of)
        assert pass_hat(1, passed, of) == pytest.approx(passed / of)


def test_the_mean_leaves_out_tasks_that_were_tried_too_seldom_and_says_how_many_are_left() -> None:
    assert mean_over_tasks([1.0, None, 0.5]) == Mean(0.75, 2)
    assert mean_over_tasks([None]) is None


@pytest.mark.parametrize(("k", "passed", "of"), [(0, 1, 1), (1, 2, 1), (1, -1, 1)])
def test_counts_that_cannot_be_are_refused(k: int, passed: int, of: int) -> None:
    with pytest.raises(ValueError, match=r"\.$"):
        pass_at(k, passed, of)
