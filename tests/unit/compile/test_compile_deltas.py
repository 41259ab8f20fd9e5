"""Deep comparison of JSON values, and which task of one version is which of the other."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from compile_strategies import texts, values
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout import Task
from rollout.compile.change import Kind
from rollout.compile.deltas import deltas, same
from rollout.compile.task_pairs import Pair, pair_tasks


def told(before: Any, after: Any) -> list[tuple[str, str, Any, Any]]:
    return [(delta.kind.value, delta.written, delta.before, delta.after) for delta in deltas(before, after)]


def test_what_differs_is_told_as_deep_as_it_is() -> None:
    before = {"orders": {"O-1": {"amount": 100, "gone": 1}}}
    after = {"orders": {"O-1": {"amount": 120}, "O-2": {}}}
    assert told(before, after) == [
        ("changed", "orders.O-1.amount", 100, 120),
        ("removed", "orders.O-1.gone", 1, None),
        ("added", "orders.O-2", None, {}),
    ]


def test_rows_are_paired_by_their_id_wherever_they_stand() -> None:
    before = [{"id": 1, "a": 1}, {"id": 2, "a": 2}, {"id": 3, "a": 3}]
    after = [{"id": 0, "a": 0}, {"id": 2, "a": 2.5}, {"id": 3, "a": 3}]
    assert told(before, after) == [
        ("removed", "1", {"id": 1, "a": 1}, None),
        ("added", "0", None, {"id": 0, "a": 0}),
        ("changed", "2.a", 2, 2.5),
    ]


def test_rows_that_only_moved_are_told_once() -> None:
    before, after = [{"id": "a"}, {"id": "b"}], [{"id": "b"}, {"id": "a"}]
    assert told(before, after) == [("changed", "(order)", ["a", "b"], ["b", "a"])]


def test_rows_without_an_id_that_tells_them_apart_are_aligned() -> None:
    row = {"sku": "A", "n": 1}
    assert told([row, row], [row, {"sku": "B", "n": 1}, row]) == [
        ("added", "[1]", None, {"sku": "B", "n": 1})
    ]


def test_an_item_put_in_front_is_one_addition() -> None:
    assert told(["b", "c"], ["a", "b", "c"]) == [("added", "[0]", None, "a")]


@pytest.mark.parametrize(("before", "after"), [(1, 1.0), ([1], [1.0]), ({"a": 1}, {"a": 1.0})])
def test_numbers_are_equal_by_value(before: Any, after: Any) -> None:
    assert told(before, after) == []


@pytest.mark.parametrize(
    ("before", "after"), [(1, True), (0, False), (1, "1"), (None, 0), ({}, []), ("", None)]
)
def test_types_count(before: Any, after: Any) -> None:
    assert len(told({"a": before}, {"a": after})) == 1


def test_null_and_missing_differ() -> None:
    assert told({"a": None}, {}) == [("removed", "a", None, None)]


@settings(max_examples=100, deadline=None)
@given(values)
def test_a_value_does_not_differ_from_its_copy(value: Any) -> None:
    assert told(value, copy.deepcopy(value)) == []


@settings(max_examples=150, deadline=None)
@given(values, values)
def test_values_differ_exactly_when_a_difference_is_told(before: Any, after: Any) -> None:
    assert bool(told(before, after)) == (not same(before, after))


@settings(max_examples=100, deadline=None)
@given(st.dictionaries(texts, values, max_size=4), st.dictionaries(texts, values, max_size=4))
def test_the_route_of_what_was_added_leads_to_it(before: dict[str, Any], after: dict[str, Any]) -> None:
    for delta in deltas(before, after):
        if delta.kind is Kind.ADDED:
            here: Any = after
            for step in delta.route:
                here = here[step]
            assert same(here, delta.after)


def pairs(before: list[Task], after: list[Task]) -> list[tuple[int | None, int | None]]:
    return [(pair.before, pair.after) for pair in pair_tasks(before, after)]


def test_tasks_are_paired_by_id_whatever_else_changed() -> None:
    before = [Task("One.", {"a": 1}, id="x"), Task("Two.", {"a": 2}, id="y")]
    after = [Task("Zwei.", {"b": 2}, id="y"), Task("Eins.", {"b": 1}, id="x")]
    assert pairs(before, after) == [(1, 0), (0, 1)]


def test_tasks_without_ids_are_paired_by_instruction_and_input() -> None:
    before = [Task("Same.", {"a": 1}, {"n": 1}), Task("Same.", {"a": 2}, {"n": 2})]
    after = [Task("Same.", {"a": 3}, {"n": 2}), Task("Same.", {"a": 4}, {"n": 1})]
    assert pairs(before, after) == [(1, 0), (0, 1)]


def test_a_task_that_was_given_an_id_is_still_the_same() -> None:
    assert pairs([Task("One.", {"a": 1})], [Task("One.", {"a": 1}, id="one")]) == [(0, 0)]


def test_a_renamed_id_is_no_new_task() -> None:
    assert pairs([Task("One.", id="a")], [Task("One.", id="b")]) == [(0, 0)]


def test_a_reworded_task_is_known_by_a_ground_truth_that_no_other_has() -> None:
    before = [Task("Refund it.", {"refunds": [1]}), Task("Leave it.", {})]
    after = [Task("Give the money back, please, all of it.", {"refunds": [1]})]
    assert pairs(before, after) == [(0, 0), (1, None)]


def test_a_ground_truth_that_several_have_says_nothing() -> None:
    before = [Task("abc", {"a": 1}), Task("def", {"a": 1})]
    after = [Task("uvw", {"a": 1}), Task("xyz", {"a": 1})]
    assert pairs(before, after) == [(None, 0), (None, 1), (0, None), (1, None)]


def test_a_slightly_reworded_task_is_known_by_its_likeness() -> None:
    before = [
        Task("Refund order O-1 for $100 for Alice", {"a": 1}),
        Task("Cancel the trip to Rome", {"a": 2}),
    ]
    after = [Task("Refund order O-1 for $120 for Alice", {"a": 3})]
    assert pairs(before, after) == [(0, 0), (1, None)]


def test_two_ids_are_two_tasks_however_alike() -> None:
    before = [Task("Refund order O-1 for $100", {"a": 1}, id="o-1")]
    after = [Task("Refund order O-2 for $100", {"a": 1}, id="o-2")]
    assert pairs(before, after) == [(None, 0), (0, None)]


def test_twins_are_paired_in_order() -> None:
    twins = [Task("Same."), Task("Same."), Task("Same.")]
    assert pairs(twins, twins[:2]) == [(0, 0), (1, 1), (2, None)]


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.builds(Task, st.sampled_from("abcd"), id=st.sampled_from([None, "x", "y"])), max_size=6),
    st.lists(st.builds(Task, st.sampled_from("abcd"), id=st.sampled_from([None, "x", "y"])), max_size=6),
)
def test_every_task_is_in_exactly_one_pair(before: list[Task], after: list[Task]) -> None:
    found: list[Pair] = pair_tasks(before, after)
    assert sorted(pair.before for pair in found if pair.before is not None) == list(range(len(before)))
    assert sorted(pair.after for pair in found if pair.after is not None) == list(range(len(after)))
