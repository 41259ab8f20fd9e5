"""``paramsSchema`` in its three forms, and what is inferred without one."""

from __future__ import annotations

from typing import Any

import pytest

from rollout.language.params_schema import parameters, read_parameters


def closed(properties: dict[str, Any], *required: str) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    return {**schema, **({"required": list(required)} if required else {}), "additionalProperties": False}


def test_the_shorthand_requires_every_parameter() -> None:
    assert parameters({"paramsSchema": {"order_id": "string", "amount": "number"}}) == closed(
        {"order_id": {"type": "string"}, "amount": {"type": "number"}}, "order_id", "amount"
    )


def test_a_parameter_may_have_a_json_schema_and_be_optional() -> None:
    written = {"amount": {"type": "number", "minimum": 0}, "note": {"type": "string", "optional": True}}
    assert parameters({"paramsSchema": written}) == closed(
        {"amount": {"type": "number", "minimum": 0}, "note": {"type": "string"}}, "amount"
    )


def test_a_whole_json_schema_is_passed_on_as_it_is() -> None:
    written = {
        "type": "object",
        "properties": {"node": {"$ref": "#/$defs/node"}, "any": True},
        "$defs": {"node": {"type": "object", "properties": {"next": {"$ref": "#/$defs/node"}}}},
    }
    found = read_parameters({"paramsSchema": written})
    assert found.schema is written
    assert (found.form, found.names, found.is_open) == ("json-schema", ("node", "any"), True)


@pytest.mark.parametrize(
    ("written", "names"),
    [
        ({"type": "string"}, ("type",)),
        ({"type": "object"}, ("type",)),
        ({"type": "object", "properties": "string"}, ("type", "properties")),
        ({"type": "object", "properties": {"type": "object"}}, ("type", "properties")),
        ({"type": {"type": "string"}, "properties": {"type": "array"}}, ("type", "properties")),
    ],
)
def test_parameters_called_type_and_properties_are_parameters(written: Any, names: tuple[str, ...]) -> None:
    found = read_parameters({"paramsSchema": written})
    assert (found.form, found.names, found.faults) == ("shorthand", names, ())


@pytest.mark.parametrize(
    ("written", "route", "hint"),
    [
        ({"a": "int"}, ("a",), "Did you mean “integer”?"),
        ({"a": "string?"}, ("a",), "optional: true"),
        ({"a": "colour"}, ("a",), "array, boolean"),
        ({"a": 3}, ("a",), "array, boolean"),
        ({"a": {"type": "string", "optional": "yes"}}, ("a", "optional"), "optional: true"),
        ({"type": "object", "properties": {"a": "number"}}, ("properties", "a"), "{type: number}"),
        ("string", (), "{order_id: string}"),
    ],
)
def test_what_says_nothing_is_a_fault_with_a_place_and_a_way_out(written: Any, route: Any, hint: str) -> None:
    (fault,) = read_parameters({"paramsSchema": written}).faults
    assert fault.route == route
    assert hint in fault.hint


@pytest.mark.parametrize(
    ("tool", "names"),
    [
        ({"fixturePath": "orders.${args.order_id}.${args.part}"}, ["order_id", "part"]),
        (
            {"appendTo": "refunds", "value": {"id": "${args.id}", "n": ["${args.n} of ${args.id}"]}},
            ["id", "n"],
        ),
        ({"fromArray": "orders", "matchField": "email"}, ["email"]),
        (
            {"response": {"a": "${args.a.b} ${state.x}"}, "mutates": {"path": "x.${args.k}", "value": 1}},
            ["a", "k"],
        ),
    ],
)
def test_without_a_schema_the_placeholders_name_the_parameters(
    tool: dict[str, Any], names: list[str]
) -> None:
    assert parameters(tool) == closed({name: {} for name in names}, *names)


def test_a_tool_that_takes_its_arguments_whole_is_open() -> None:
    assert parameters({"stateArray": "refunds"}) == {"type": "object", "properties": {}}
    assert parameters({"mutates": {"path": "x", "value": "${args}"}}) == {"type": "object", "properties": {}}


def test_a_tool_without_any_parameter_takes_none() -> None:
    assert parameters({"kind": "mock", "response": 1}) == closed({})


def test_parameters_are_inferred_from_cases_and_expressions_too() -> None:
    tool = {
        "vars": {"order": "state.orders[args.order_id]", "half": "has(args.part) ? args.part : 0.5"},
        "cases": [
            {"when": "args.amount > 3", "error": "No ${args.reason}."},
            {"response": "${state.orders[args.key]}", "mutates": {"path": "a.${args.at}", "value": 1}},
        ],
    }
    schema = parameters(tool)
    assert sorted(schema["properties"]) == ["amount", "at", "key", "order_id", "part", "reason"]
    assert sorted(schema["required"]) == ["amount", "at", "key", "order_id", "reason"]
