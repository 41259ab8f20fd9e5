"""Comparing by value and type, down to the first difference."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollout.language.canonical import canonical
from rollout.language.compare import compare, show, unmatched
from rollout.language.paths import MISSING


@pytest.mark.parametrize(
    ("expected", "actual"),
    [
        (1, 1.0),
        ([12, 15], [12.0, 15.0]),
        ({"a": {"b": [1]}}, {"a": {"b": [1.0]}}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (None, None),
        (2**60, 2**60),
    ],
)
def test_equal_values_are_equal_at_every_depth(expected: Any, actual: Any) -> None:
    assert compare(expected, actual) is None


@pytest.mark.parametrize(
    ("expected", "actual", "why", "path"),
    [
        (1, "1", "type", ()),
        (1, True, "type", ()),
        (True, 1, "type", ()),
        (0, False, "type", ()),
        (None, MISSING, "missing", ()),
        (None, 0, "type", ()),
        ("", None, "type", ()),
        (11, 711, "value", ()),
        ({"a": None}, {}, "missing", ("a",)),
        ({}, {"a": None}, "unexpected", ("a",)),
        ({"a": [1, {"b": "x"}]}, {"a": [1, {"b": "y"}]}, "value", ("a", 1, "b")),
        ([1, 2], [2, 1], "value", (0,)),
        ([1], [1, 1], "length", ()),
        ([1, 1], [1], "length", ()),
        (2**53, 2**53 + 1, "value", ()),
        (float("nan"), float("nan"), "value", ()),
        ({}, [], "type", ()),
    ],
)
def test_the_first_difference_is_told_with_its_path(expected: Any, actual: Any, why: str, path: Any) -> None:
    difference = compare(expected, actual)
    assert difference is not None
    assert (difference.why, difference.path) == (why, path)
    assert difference.sentence(("state",)).startswith("“state")


def test_without_order_lists_are_bags() -> None:
    assert compare([1, 2, 2], [2, 1, 2], ignore_order=True) is None
    assert compare([{"a": [1, 2]}], [{"a": [2, 1]}], ignore_order=True) is None
    difference = compare(["a", "b", "b"], ["b", "a", "a"], ignore_order=True)
    assert difference is not None and difference.expected == "b"


def test_pairs_are_found_for_all_items_at_once() -> None:
    # 1.5 fits both, 1 fits only the first: taking the first that fits would leave 1 alone.
    assert compare([1.5, 1], [1.2, 2.4], ignore_order=True, tolerance=1) is None
    assert compare([{}, {"a": 1}], [{"a": 1}, {"b": 2}], ignore_order=True, subset=True) is None
    assert compare([{"a": 1}, {"a": 1}], [{"a": 1}, {"b": 2}], ignore_order=True, subset=True) is not None


def test_long_lists_in_another_order_are_compared_quickly() -> None:
    rows = [{"id": number, "name": f"row {number}"} for number in range(5_000)]
    assert compare(rows, rows[::-1], ignore_order=True) is None


@pytest.mark.parametrize(
    ("expected", "actual", "tolerance", "equal"),
    [
        (1.0, 1.1, 0.1, True),
        (1.0, 1.11, 0.1, False),
        (100, 99.995, 0.01, True),
        (1, True, 5, False),
        ("1", 1, 5, False),
        (10**400, 1.0, 5, False),
    ],
)
def test_tolerance_is_for_numbers(expected: Any, actual: Any, tolerance: float, equal: bool) -> None:
    assert (compare(expected, actual, tolerance=tolerance) is None) is equal


def test_a_subset_may_lack_keys_and_items_but_not_order() -> None:
    assert compare({"a": [1, 3]}, {"a": [0, 1, 2, 3], "b": 1}, subset=True) is None
    assert compare([3, 1], [0, 1, 2, 3], subset=True) is not None
    assert compare([3, 1], [0, 1, 2, 3], subset=True, ignore_order=True) is None
    assert compare([1, 1], [1, 2, 3], subset=True) is not None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 3) | st.sampled_from([0.0, 1.0, 0.5]) | st.sampled_from("ab"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("xyz"), inner, max_size=3),
    max_leaves=10,
)


@given(JSON, JSON)
def test_comparing_is_reflexive_and_symmetric(one: Any, other: Any) -> None:
    assert compare(one, one) is None
    assert (compare(one, other) is None) == (compare(other, one) is None)


@given(st.lists(JSON, max_size=6), st.randoms(use_true_random=False))
def test_a_shuffled_list_is_the_same_bag(items: list[Any], random: Any) -> None:
    shuffled = list(items)
    random.shuffle(shuffled)
    assert compare(items, shuffled, ignore_order=True) is None
    assert compare(items, [*shuffled, "extra"], ignore_order=True, subset=True) is None


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=14))
def test_matching_is_as_large_as_a_search_of_all_pairings_finds(edges: list[tuple[int, int]]) -> None:
    def best(left: int, used: frozenset[int]) -> int:
        if left == 6:
            return 0
        taken = [1 + best(left + 1, used | {b}) for a, b in set(edges) if a == left and b not in used]
        return max([best(left + 1, used), *taken])

    perfect = best(0, frozenset()) == 6
    lonely = unmatched(range(6), range(6), lambda a, b: (a, b) in edges)
    assert (lonely is None) == perfect


@pytest.mark.parametrize(
    ("expected", "actual", "sentence"),
    [
        ("café", "cafe\u0301", "it has U+0065 U+0301 where U+00E9 was expected"),
        ("cafe\u0301", "café", "it has U+00E9 where U+0065 U+0301 was expected"),
        ("a b", "a\u00a0b", "it has U+00A0 where U+0020 was expected"),
        ("ab", "ab\u200b", "it has U+200B where nothing was expected"),
    ],
)
def test_texts_that_look_the_same_are_told_apart_by_their_code_points(
    expected: str, actual: str, sentence: str
) -> None:
    found = compare({"name": expected}, {"name": actual})
    assert found is not None
    assert (
        found.sentence() == f"“name” is {show(actual)}, which only looks like what was expected: {sentence}."
    )


def test_null_is_not_named_twice() -> None:
    expected_null, found_null = compare(None, "ada"), compare("ada", None)
    assert expected_null is not None and found_null is not None
    assert expected_null.sentence() == 'It is "ada", a text; null was expected.'
    assert found_null.sentence() == 'It is null; "ada", a text, was expected.'


def test_the_beginning_of_a_large_value_is_shown_as_all_of_it_would_be() -> None:
    rows = [{"id": number, "b": {"a": [number, "é" * number]}} for number in range(50)]
    assert show(rows) == canonical(rows).decode()[:199] + "…"
    assert show({"b" * 300: 1, "a" * 150: 2}) == f'{{"{"a" * 150}":2,"{"b" * 42}…'
    assert show(10**4_000, 40) == f"1{'0' * 38}…"
