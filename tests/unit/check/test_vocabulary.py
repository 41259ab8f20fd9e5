"""The schemas can be asked which keys go where."""

from __future__ import annotations

from typing import Any

import pytest
from jsonschema import Draft202012Validator

from rollout.check.sections import part, section
from rollout.check.stray import guess_template
from rollout.check.vocabulary import Node, along, applying, branches, homes_above, homes_below, keys
from rollout.source.contract import schema, templates

WORKFLOW = {
    "template": "workflow",
    "config": {"tools": [{"name": "refund", "kind": "action", "stateArray": "refunds"}]},
    "verifier": {"primitives": [{"name": "refunded", "type": "state_match", "expected": {}}]},
}


def conditions(value: Any) -> list[dict[str, Any]]:
    if isinstance(value, list):
        return [each for member in value for each in conditions(member)]
    if not isinstance(value, dict):
        return []
    own = [value["if"]] if isinstance(value.get("if"), dict) else []
    return own + [each for member in value.values() for each in conditions(member)]


@pytest.mark.parametrize("name", ["environment", "payload", "task", "verifier", *templates()])
def test_every_condition_is_judged_as_a_validator_judges_it(name: str) -> None:
    values: list[Any] = [None, 3, "text", [], {}, {"type": "object"}, {"type": "object", "properties": {}}]
    values += [
        {key: value} for key in ("kind", "template", "type") for value in ("lookup", "sql", "select", 3)
    ]
    for condition in conditions(schema(name)):
        branch = {"if": condition, "then": {"title": "then"}, "else": {"title": "else"}}
        for value in values:
            expected = "then" if Draft202012Validator(condition).is_valid(value) else "else"
            assert [node.schema.get("title") for node in applying([Node(name, branch)], value)] == [
                None,
                expected,
            ]


def test_a_tool_takes_the_keys_of_its_kind() -> None:
    nodes = along("environment", WORKFLOW, ("config", "tools", 0))[-1]
    assert list(keys(nodes)) == [
        "name",
        "kind",
        "description",
        "paramsSchema",
        "appendTo",
        "value",
        "stateArray",
    ]
    assert [kind.value for kind in branches(nodes)] == ["lookup", "action", "mock"]


def test_what_a_key_is_for_is_known_where_branches_only_repeat_it() -> None:
    nodes = along("environment", WORKFLOW, ("verifier", "primitives", 0))[-1]
    assert keys(nodes)["weight"]["minimum"] == 0
    assert keys(nodes)["tolerance"]["description"]


def test_keys_refused_by_the_template_are_not_known() -> None:
    known = keys(along("environment", WORKFLOW, ())[-1])
    assert "config" in known
    assert "schema" not in known


def test_a_key_is_found_above() -> None:
    route = ("verifier", "primitives", 0)
    assert list(homes_above("environment", WORKFLOW, route, "passThreshold")) == [("verifier",)]
    assert list(homes_above("environment", WORKFLOW, route, "nothing")) == []


@pytest.mark.parametrize(
    ("template", "key", "way"),
    [
        ("workflow", "tools", ("config",)),
        ("workflow", "fixturePath", ("config", "tools")),
        ("browser", "href", ("config", "pages", "elements")),
        (None, "files", ("config",)),
        (None, "primitives", ("verifier",)),
    ],
)
def test_a_key_is_found_below(template: str | None, key: str, way: tuple[str, ...]) -> None:
    value = {} if template is None else {"template": template}
    assert next(homes_below(along("environment", value, ())[-1], key)).way == way


@pytest.mark.parametrize(
    ("route", "name"),
    [
        ((), "the environment"),
        (("config",), "the config"),
        (("config", "tools", 0), "tool “refund”"),
        (("config", "tools", 7), "tool 8"),
        (("config", "tools", 0, "paramsSchema", "id"), "parameter “id” of tool “refund”"),
        (("verifier", "primitives", 0, "expected"), "“expected” of primitive “refunded”"),
        (("verifier", "primitives", 0, "terms", 1), "item 2 of “terms” of primitive “refunded”"),
    ],
)
def test_a_part_has_the_name_a_person_would_give_it(route: tuple[str | int, ...], name: str) -> None:
    assert section("the environment", WORKFLOW, route) == name


def test_a_value_is_named_by_its_key() -> None:
    assert part("the environment", WORKFLOW, ("slug",)) == "“slug”"
    assert part("the environment", WORKFLOW, ("config", "tools")) == "“tools” of the config"
    assert part("the task", {"solution": [{}]}, ("solution", 0, "args")) == "“args” of step 1 of the solution"


@pytest.mark.parametrize(
    ("value", "template"),
    [
        ({"schema": "CREATE TABLE t (id INTEGER)"}, "sql"),
        ({"config": {"tools": [{"fixturePath": "a"}]}}, "workflow"),
        ({"config": {"tools": [{"response": 1, "mutates": {}}]}}, "custom"),
        ({"config": {"files": {}}}, "code-editing"),
        ({"config": {"pages": []}}, "browser"),
        ({"config": {"tools": [{"name": "ping"}]}}, None),
        ({"config": {}}, None),
        ({}, None),
    ],
)
def test_the_template_is_guessed_from_the_keys(value: dict[str, Any], template: str | None) -> None:
    assert guess_template(value) == (None if template is None else ("template", template))
