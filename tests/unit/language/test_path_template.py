"""Paths with placeholders in them: one placeholder, one step at most."""

from __future__ import annotations

from typing import Any

import pytest

from rollout.language.interpolation import FillError
from rollout.language.path_template import parse_path_template
from rollout.language.paths import PathError

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
