"""State paths: reading and writing them, and following them into data."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollout.language.paths import MISSING, PathError, TargetError, get, nearest, parse, put, write

STATE = {
    "refunds": [{"order_id": "O-1", "amount": 100}, {"order_id": "O-2", "amount": None}],
    "user": {"a.b": "dotted", "length": "an object's own"},
    "count": 0,
}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("count", 0),
        ("refunds[1].order_id", "O-2"),
        ("refunds.1.order_id", "O-2"),
        ("refunds[1].amount", None),
        ("refunds.length", 2),
        ('user["a.b"]', "dotted"),
        ("user['a.b']", "dotted"),
        ("user.length", "an object's own"),
    ],
)
def test_a_path_leads_to_a_value(path: str, value: Any) -> None:
    assert get(STATE, parse(path).steps) == value


@pytest.mark.parametrize(
    "path",
    [
        "refund",
        "refunds[2]",
        "refunds.2",
        "refunds[0].idd",
        "refunds.x",
        "count.x",
        "count.length",
        "user[0]",
        "user.a.b",
    ],
)
def test_a_path_that_leads_nowhere_is_missing(path: str) -> None:
    assert get(STATE, parse(path).steps) is MISSING


def test_missing_is_not_null() -> None:
    assert get({"a": None}, ("a",)) is None
    assert get({}, ("a",)) is MISSING
    assert not MISSING


def test_an_index_of_a_thousand_digits_is_missing_and_no_crash() -> None:
    assert get({"a": [1]}, ("a", "9" * 5000)) is MISSING


def test_nearest_says_how_far_a_path_got() -> None:
    assert nearest(STATE, parse("refunds[0].idd").steps) == (STATE["refunds"][0], 2)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("", 0, 0),
        ("a..b", 2, 3),
        (".a", 0, 1),
        ("a.", 2, 2),
        ("a[", 1, 2),
        ("a[x]", 2, 3),
        ("a[-1]", 2, 4),
        ("a]b", 1, 2),
        ("a[0]b", 4, 5),
        ('a["x', 1, 4),
        ("a[]", 1, 3),
        ("a. b", 2, 4),
    ],
)
def test_what_is_no_path_is_refused_at_its_place(text: str, start: int, end: int) -> None:
    with pytest.raises(PathError) as caught:
        parse(text)
    assert (caught.value.start, caught.value.end) == (start, end)
    assert caught.value.hint


def test_empty_brackets_are_for_adding_at_the_end_only() -> None:
    assert parse("a.b[]", appending=True).appends
    for text in ("a[].b", "[]"):
        with pytest.raises(PathError):
            parse(text, appending=True)


KEYS = st.text(min_size=1, max_size=8)
STEPS = st.lists(KEYS | st.integers(0, 10**6), min_size=1, max_size=6).map(tuple)


@given(STEPS)
def test_a_written_path_reads_back_to_the_same_steps(steps: tuple[str | int, ...]) -> None:
    assert parse(write(steps)).steps == steps


@given(st.text(max_size=30))
def test_any_text_is_a_path_or_an_error_inside_the_text(text: str) -> None:
    try:
        assert parse(write(parse(text).steps)).steps == parse(text).steps
    except PathError as error:
        assert 0 <= error.start <= error.end <= len(text)


def test_put_replaces_and_makes_what_is_missing_on_the_way() -> None:
    state: dict[str, Any] = {"list": [1, 2]}
    put(state, ("ticket", "status", "code"), 7)
    put(state, ("list", 1), 3)
    assert state == {"list": [1, 3], "ticket": {"status": {"code": 7}}}


def test_put_adds_to_a_list_and_makes_a_missing_one() -> None:
    state: dict[str, Any] = {"log": ["a"]}
    put(state, ("log",), "b", append=True)
    put(state, ("deep", "er"), "c", append=True)
    assert state == {"log": ["a", "b"], "deep": {"er": ["c"]}}


@pytest.mark.parametrize(
    ("steps", "append", "existing"),
    [
        (("orders", "O-9", "status"), False, {1}),
        (("carts", "bob"), True, {1}),
        (("list", 5), False, ()),
        (("list", "x"), False, ()),
        (("list", 5, "x"), False, ()),
        (("none", "x"), False, ()),
        (("none",), True, ()),
        (("text", "x"), True, ()),
        (("new", 0), False, ()),
    ],
)
def test_put_changes_nothing_where_it_cannot_write(steps: Any, append: bool, existing: Any) -> None:
    state = {"orders": {"O-1": {}}, "carts": {}, "list": [1], "none": None, "text": "t"}
    before = repr(state)
    with pytest.raises(TargetError, match="“"):
        put(state, steps, 1, append=append, existing=existing)
    assert repr(state) == before


def test_a_step_that_an_agent_gave_may_be_the_new_key_itself() -> None:
    state: dict[str, Any] = {"notes": {}}
    put(state, ("notes", "O-9"), "hello", existing={1})
    assert state == {"notes": {"O-9": "hello"}}
