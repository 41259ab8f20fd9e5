"""Rows are compared as bags, by position, numbers as numbers."""

from __future__ import annotations

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.database.rows import difference, equal, json_row

CELLS = (
    st.none() | st.integers(-5, 5) | st.floats(-2, 2, allow_nan=False) | st.sampled_from(["", "a", "A", "1"])
)
ROWS = st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[CELLS] * width), max_size=8))


@given(ROWS, st.randoms(use_true_random=False))
@settings(max_examples=60, deadline=None)
def test_a_bag_is_itself_in_any_order(rows: list[tuple[object, ...]], dice: random.Random) -> None:
    shuffled = list(rows)
    dice.shuffle(shuffled)
    assert difference(rows, shuffled) is None
    assert difference(rows, shuffled, tolerance=0.5) is None


@given(ROWS.filter(bool), st.data())
@settings(max_examples=60, deadline=None)
def test_a_bag_with_a_row_more_or_less_is_another(
    rows: list[tuple[object, ...]], data: st.DataObject
) -> None:
    number = data.draw(st.integers(0, len(rows) - 1))
    assert difference(rows, [*rows, rows[number]]) is not None
    assert difference(rows, rows[:number] + rows[number + 1 :]) is not None


@pytest.mark.parametrize(
    ("expected", "actual", "tolerance", "same"),
    [
        (1, 1.0, 0, True),
        (1, "1", 0, False),
        (1, True, 0, False),
        (0, False, 0, False),
        (None, None, 0, True),
        (None, 0, 0, False),
        (None, "", 0, False),
        ("a", "A", 0, False),
        ("a", "a ", 0, False),
        (0.1 + 0.2, 0.3, 0, True),
        (341.62, 341.62000000000006, 0, True),
        (2**60, 2**60 + 1, 0, False),
        (10**15, float(10**15) + 1, 0, False),
        (1.1, 1.0, 0.1, True),
        (1.2, 1.0, 0.1, False),
        (10**400, 1.5, 0, False),
        (10, 9, 1, True),
    ],
)
def test_cells(expected: object, actual: object, tolerance: float, same: bool) -> None:
    assert equal(expected, actual, tolerance) is same
    assert equal(actual, expected, tolerance) is same


def test_pairs_are_sought_for_all_rows_at_once() -> None:
    # 1.0 could take 1.5, but then 2.0 would have none.
    assert difference([(1.0,), (2.0,)], [(1.5,), (0.6,)], tolerance=0.5) is None
    assert (
        difference([(1.0,), (2.0,)], [(0.5,), (0.6,)], tolerance=0.5)
        == "No row is [2]; the nearest is [0.5]."
    )


def test_many_rows_within_a_tolerance_are_paired_quickly() -> None:
    rows = [(number, "a", number / 7) for number in range(5_000)]
    near = [(number, "a", round(number / 7, 2)) for number in reversed(range(5_000))]
    assert difference(rows, near, tolerance=0.01) is None


def test_only_rows_of_one_group_may_change_places() -> None:
    rows = [(1,), (2,), (3,)]
    assert difference(rows, [(2,), (1,), (3,)], groups=(2, 1)) is None
    assert difference(rows, [(1,), (3,), (2,)], groups=(2, 1)) is not None


def test_what_json_cannot_say_is_text() -> None:
    assert json_row((b"\x00\xff", float("inf"), float("-inf"), 1.5, None)) == (
        "x'00ff'",
        "Infinity",
        "-Infinity",
        1.5,
        None,
    )
