"""Paths with placeholders in them: one placeholder, one step at most."""

from __future__ import annotations

from typing import Any

import pytest

from rollout.language.interpolation import FillError
from rollout.language.path_template import parse_path_template
from rollout.language.paths import MISSING, PathError, get, put

ARGS = {"id": "a.b", "n": 2, "half": 1.5, "empty": "", "object": {}, "list": [1], "odd": 'x"]['}


@pytest.mark.parametrize(
    ("text", "steps"),
    [
        ("orders.${args.id}", ("orders", "a.b")),
        ("orders.${args.id}.items[0]", ("orders", "a.b", "items", 0)),
        ("orders.order-${args.id}-x", ("orders", "order-a.b-x")),
        ("orders[${args.n}]", ("orders", "2")),
        ("by_price.${args.half}", ("by_price", "1.5")),
        ("${args.id}.${args.n}", ("a.b", "2")),
        ("orders.${args.empty}", ("orders", "")),
        ("orders.${args.odd}", ("orders", 'x"][')),
        ("orders.$${x}", ("orders", "${x}")),
    ],
)
def test_a_filled_value_is_never_split(text: str, steps: tuple[Any, ...]) -> None:
    assert parse_path_template(text).fill({"args": ARGS}) == steps


def test_the_steps_before_the_first_placeholder_are_known() -> None:
    template = parse_path_template("shop.orders[0].${args.id}.x")
    assert template.known == ("shop", "orders", 0)
    assert template.filled == {3}


@pytest.mark.parametrize("name", ["object", "list", "missing"])
def test_what_is_no_name_cannot_be_filled_in(name: str) -> None:
    with pytest.raises(FillError, match=rf"\$\{{args\.{name}\}}"):
        parse_path_template(f"orders.${{args.{name}}}").fill({"args": ARGS})


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("orders..${args.id}", 7, 8),
        ("orders.${args.id}.", 18, 18),
        ("$${x}..y", 6, 7),
        ("orders.${nope.id}", 7, 17),
        ("orders[x${args.id}]", 7, 18),
    ],
)
def test_a_bad_template_is_refused_at_its_place(text: str, start: int, end: int) -> None:
    with pytest.raises(PathError) as caught:
        parse_path_template(text)
    assert (caught.value.start, caught.value.end) == (start, end)


@pytest.mark.parametrize(("given", "found"), [(1, "b"), ("1", "b"), ("0", "a"), (0, "a")])
def test_what_is_filled_in_may_be_the_index_of_an_item(given: object, found: str) -> None:
    steps = parse_path_template("names.${args.at}").fill({"args": {"at": given}})
    assert get({"names": ["a", "b"]}, steps) == found


@pytest.mark.parametrize("given", ["length", "00", "01", "-1", "1.0", "", "1 "])
@pytest.mark.parametrize("text", ["names.${args.at}", "${args.list}.${args.at}"])
def test_what_is_filled_in_is_no_other_word_for_one(text: str, given: str) -> None:
    steps = parse_path_template(text).fill({"args": {"at": given, "list": "names"}})
    assert get({"names": ["a", "b"]}, steps) is MISSING


def test_a_key_that_was_filled_in_is_a_plain_text_in_the_state() -> None:
    state: dict[str, Any] = {}
    put(state, parse_path_template("${args.a}.${args.b}").fill({"args": {"a": "x", "b": "length"}}), 1)
    assert state == {"x": {"length": 1}}
    assert {type(key) for key in (*state, *state["x"])} == {str}
    assert get(state, parse_path_template("x.${args.b}").fill({"args": {"b": "length"}})) == 1


def test_an_index_is_written_without_zeros_before_it() -> None:
    with pytest.raises(PathError, match="“01” is no index"):
        parse_path_template("names[01]")
