"""A tool's declaration, read as rules need it: parameters, placeholders, and what it writes."""

from __future__ import annotations

from typing import Any

import pytest

from rollout.check.subject import Item
from rollout.check.tool_view import ARGUMENTS, ToolView, follow, may_be_made
from rollout.language.path_template import parse_path_template


def view(**tool: Any) -> ToolView:
    return ToolView(Item(("config", "tools", 0), tool))


def test_an_action_with_state_array_writes_its_arguments() -> None:
    tool = view(name="refund", kind="action", stateArray="refunds")
    assert [(write.path.text, write.appends, write.value) for write in tool.writes] == [
        ("refunds", True, ARGUMENTS)
    ]
    assert tool.takes_arguments_whole


def test_a_custom_tool_writes_each_of_its_mutations() -> None:
    tool = view(
        name="ship", mutates=[{"path": "log[]", "value": "x"}, {"path": "order.status"}, {"path": "a..b"}, 3]
    )
    assert [(write.path.text, write.appends) for write in tool.writes] == [
        ("log[]", True),
        ("order.status", False),
    ]
    assert [text for _, _, text, _ in tool.paths] == ["log[]", "order.status", "a..b"]


@pytest.mark.parametrize(
    ("schema", "declared"),
    [
        (None, False),
        ({}, True),
        ({"id": "string"}, True),
        ({"type": "object", "properties": {"id": {}}}, True),
        ({"type": "object", "properties": {"id": {}}, "additionalProperties": True}, False),
        ({"type": "object", "properties": {"id": {}}, "allOf": [{"$ref": "#/$defs/more"}]}, False),
    ],
)
def test_parameters_are_declared_where_all_their_names_are_written_down(schema: Any, declared: bool) -> None:
    tool = view(name="refund", **({} if schema is None else {"paramsSchema": schema}))
    assert tool.is_declared is declared


def test_placeholders_are_found_in_keys_and_values_of_what_is_filled_in() -> None:
    response = {"${args.k}": ["${args.v}"]}
    tool = view(name="a", description="${args.no}", response=response, mutates={"path": "x.${args.p}"})
    assert [(spot.route[3:], spot.is_key, found.text) for spot, found in tool.placeholders] == [
        (("response", "${args.k}"), True, "${args.k}"),
        (("response", "${args.k}", 0), False, "${args.v}"),
        (("mutates", "path"), False, "${args.p}"),
    ]


def test_a_path_is_followed_through_every_member_where_a_step_is_filled_in() -> None:
    data = {"orders": {"O-1": {"mail": "a"}, "O-2": {}}}
    assert follow(data, parse_path_template("orders.${args.id}.mail")) == (["a"], 3)
    assert follow(data, parse_path_template("orders.${args.id}.male")) == ([{"mail": "a"}, {}], 2)
    assert follow(data, parse_path_template("order.${args.id}")) == ([data], 0)
    assert follow({"orders": {}}, parse_path_template("orders.${args.id}.mail")) == ([{}], 1)


def test_what_a_tool_may_make_is_above_or_below_what_it_writes() -> None:
    tool = view(name="ship", mutates={"path": "order.lines[]", "value": 1})
    assert may_be_made(tool.writes, ("order", "lines", 0, "sku"))
    assert may_be_made(tool.writes, ("order",))
    assert not may_be_made(tool.writes, ("order", "status"))
