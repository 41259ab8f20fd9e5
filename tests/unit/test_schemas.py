"""The schemas are sound, say something about everything, and take what the published README shows."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
import yaml
from jsonschema import Draft202012Validator

from rollout.check.schema import faults, is_sound
from rollout.environment import Environment, Task
from rollout.family import members
from rollout.source.contract import (
    branch,
    primitives,
    sandboxed_templates,
    schema,
    schema_names,
    schema_text,
    templates,
)

BASE = "https://rollout.mv37.org/schemas/1/"
OURS = ("environment", "payload", "task", "verifier", *templates())

README = """
slug: refund-agent
name: Refund Agent
template: workflow
description: Customer-support refund workflow
config:
  tools:
    - {name: lookup_order, kind: lookup, fixturePath: "orders.${args.order_id}"}
    - name: refund
      kind: action
      appendTo: refunds
      value: {order_id: "${args.order_id}", amount: "${args.amount}"}
  fixtures:
    orders:
      O-1: {customer: Alice, amount: 100, status: shipped}
  initialMutableState: {refunds: []}
tasks:
  - instruction: Refund order O-1 for $100 for Alice
    hidden_ground_truth: {refunds: [{order_id: O-1, amount: 100.0}]}
"""

README_BUILDERS = """
slug: refund-agent
name: Refund Agent
template: workflow
config:
  tools:
    - kind: lookup
      name: get_order
      description: Read an order.
      paramsSchema: {id: string}
      fromArray: orders
      matchField: id
    - kind: action
      name: refund
      description: Issue a refund.
      paramsSchema: {order_id: string, amount: number}
      stateArray: refunds
  fixtures:
    orders: [{id: O-1, customer: Alice, amount: 100}]
  initialMutableState: {refunds: []}
tasks:
  - instruction: Refund order O-1 for $100
    hidden_ground_truth: {refunds: [{order_id: O-1, amount: 100}]}
verifier:
  primitives:
    - {name: called_lookup, type: tool_was_called, tool: get_order, weight: 1}
    - {name: refunds_count, type: state_match, expected: {refunds.length: 1}, weight: 2}
    - {name: no_errors, type: no_tool_errors, weight: 1}
"""


_MAPS = ("properties", "patternProperties", "$defs")
_SINGLE = ("items", "additionalProperties", "if", "then", "else", "not")


def subschemas(value: Any, pointer: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every subschema of a schema file that is an object, with its JSON pointer."""
    if not isinstance(value, dict):
        return
    yield pointer, value
    for word in _MAPS:
        for key, member in value.get(word, {}).items():
            yield from subschemas(member, f"{pointer}/{word}/{key}")
    for word in _SINGLE:
        yield from subschemas(value.get(word), f"{pointer}/{word}")
    for word in ("allOf", "anyOf"):
        for index, member in enumerate(value.get(word, ())):
            yield from subschemas(member, f"{pointer}/{word}/{index}")


def defines(pointer: str) -> bool:
    """Whether a subschema says what there is; a condition only asks, and a branch of it refines."""
    return not any(step in ("if", "not", "allOf", "anyOf") for step in pointer.split("/"))


def resolved(name: str, told: dict[str, Any]) -> dict[str, Any]:
    if "$ref" not in told:
        return told
    file, _, pointer = told["$ref"].partition("#")
    target: Any = schema(file.removesuffix(".schema.json") or name)
    for step in pointer.split("/")[1:]:
        target = target[step]
    return {**target, **told}


@pytest.mark.parametrize("name", schema_names())
def test_a_schema_satisfies_the_meta_schema(name: str) -> None:
    Draft202012Validator.check_schema(schema(name))
    assert schema(name)["$schema"] == "https://json-schema.org/draft/2020-12/schema"


@pytest.mark.parametrize("name", schema_names())
def test_a_schema_is_named_after_its_file(name: str) -> None:
    assert schema(name)["$id"] == f"{BASE}{name}.schema.json"
    assert schema(name)["title"]
    assert schema(name)["description"]


@pytest.mark.parametrize("name", schema_names())
def test_every_property_and_every_item_is_described(name: str) -> None:
    for pointer, part in subschemas(schema(name)):
        if defines(pointer):
            members = dict(part.get("properties", {}))
            if name in OURS:
                members |= {"[]": part.get("items"), "{}": part.get("additionalProperties")}
            for key, told in members.items():
                # A bare true repeats a property of the subschema that refers here.
                if isinstance(told, dict):
                    description = resolved(name, told).get("description", "")
                    assert description.endswith("."), f"{name}{pointer}: {key}"


@pytest.mark.parametrize("name", OURS)
def test_every_example_is_valid(name: str) -> None:
    for pointer, part in subschemas(schema(name)):
        for example in part.get("examples", ()):
            # Looked at from the whole file, so that references inside the part lead home.
            whole = {"$ref": f"{BASE}{name}.schema.json#{pointer}"}
            found = list(_validator(whole).iter_errors(example))
            assert not found, f"{name}{pointer}: {found[0].message}"


def _validator(whole: dict[str, Any]) -> Draft202012Validator:
    from referencing import Registry
    from referencing.jsonschema import DRAFT202012

    files = [(schema(name)["$id"], DRAFT202012.create_resource(schema(name))) for name in schema_names()]
    return Draft202012Validator(whole, registry=Registry().with_resources(files))


@pytest.mark.parametrize("name", OURS)
def test_an_object_with_known_keys_refuses_others(name: str) -> None:
    for pointer, part in subschemas(schema(name)):
        # The base of a discriminated object is closed by each of its branches.
        chooses = any("if" in member for member in part.get("allOf", ()))
        if "properties" in part and defines(pointer) and (not chooses or not pointer):
            assert part.get("additionalProperties") is False, f"{name}{pointer}"


def test_every_template_has_a_schema() -> None:
    assert set(templates()) <= set(schema_names())
    assert templates() == ("sql", "workflow", "custom", "code-editing", "browser")


PRIMITIVES = primitives(schema("verifier"))


def test_the_types_and_the_branches_of_primitives_are_those_that_are_defined() -> None:
    written = json.loads(schema_text("verifier"))["$defs"]["primitive"]
    assert written["properties"]["type"]["enum"] == list(PRIMITIVES)
    assert written["allOf"] == [branch(each) for each in PRIMITIVES]


def test_every_primitive_that_judges_is_defined_and_the_others_say_that_they_do_not() -> None:
    defined = json.loads(schema_text("verifier"))["$defs"]
    judging = {each for each in PRIMITIVES if defined[each].get("x-judges", True)}
    assert judging == set(members("rollout.verifiers"))


@pytest.mark.parametrize("primitive", PRIMITIVES)
def test_a_primitive_is_described_and_takes_what_all_take(primitive: str) -> None:
    told = schema("verifier")["$defs"][primitive]
    assert told["description"]
    assert {"name", "type", "description", "weight", "not"} <= set(told["properties"])


def refused(primitive: dict[str, Any]) -> list[tuple[str, tuple[str | int, ...]]]:
    value = {
        "template": "custom",
        "config": {"tools": [{"name": "ping", "response": "pong"}]},
        "verifier": {"primitives": [primitive]},
    }
    return [(fault.slug, fault.route[3:]) for fault in faults("environment", value)]


@pytest.mark.parametrize("primitive", PRIMITIVES)
def test_a_primitive_is_refused_without_an_option_it_needs_or_with_one_that_nobody_knows(
    primitive: str,
) -> None:
    told = schema("verifier")["$defs"][primitive]
    whole = {"name": "it", "type": primitive}
    for key in (*told.get("required", ()), *told.get("anyOf", ({},))[0].get("required", ())):
        whole[key] = next(iter(resolved("verifier", told["properties"][key]).get("examples", [1])))
    assert refused(whole) == []
    assert refused({**whole, "zzyzx": 1}) == [("unknown-key", ("zzyzx",))]
    for key in set(whole) - {"name", "type"}:
        without = {name: value for name, value in whole.items() if name != key}
        assert refused(without) == [("missing-key", ())], key


@pytest.mark.parametrize(
    ("file", "pointer", "key"),
    [("workflow", "tool", "kind"), ("browser", "element", "type"), ("verifier", "primitive", "type")],
)
def test_every_kind_has_a_branch(file: str, pointer: str, key: str) -> None:
    node = schema(file)["$defs"][pointer]
    assert [each["if"]["properties"][key]["const"] for each in node["allOf"]] == node["properties"][key][
        "enum"
    ]


@pytest.mark.parametrize("text", [README, README_BUILDERS], ids=["templated", "builders"])
def test_the_published_example_validates_as_a_file(text: str) -> None:
    assert faults("environment", yaml.safe_load(text)) == []


@pytest.mark.parametrize("text", [README, README_BUILDERS], ids=["templated", "builders"])
def test_the_published_example_validates_as_a_payload(text: str) -> None:
    value = yaml.safe_load(text)
    tasks = [Task(**task) for task in value.pop("tasks")]
    verifier = value.pop("verifier", None)
    environment = Environment(**value, tasks=tasks)
    assert faults("payload", {"environment": environment.to_payload(), "verifier": verifier}) == []


def test_a_payload_takes_no_key_that_stays_at_home() -> None:
    value = yaml.safe_load(README)
    task = {"instruction": "x", "hiddenGroundTruth": {}, "split": "dev", "solution": [{"answer": "x"}]}
    payload = {"environment": {**value, "tasks": [task]}, "verifier": None}
    assert [fault.route for fault in faults("payload", payload)] == [("environment", "tasks", 0, "solution")]


def test_the_marks_that_the_code_reads_are_there() -> None:
    top = schema("environment")["properties"]
    assert {key: told["x-sibling"] for key, told in top.items() if "x-sibling" in told} == {
        "config": ["yaml", "toml", "json"],
        "description": ["md"],
        "schema": ["sql"],
        "seed": ["sql"],
        "tasks": ["jsonl", "yaml", "toml", "json"],
        "verifier": ["yaml", "toml", "json"],
    }
    spread = {
        (name, key): told["x-spread"]["kind"]
        for name in templates()
        for key, told in schema(name)["properties"].items()
        if "x-spread" in told
    }
    assert spread == {
        ("workflow", "fixtures"): "data",
        ("code-editing", "files"): "text",
        ("code-editing", "hidden"): "text",
        ("browser", "pages"): "page",
    }
    assert sandboxed_templates() == {"code-editing"}
    assert schema("sql")["x-tools"] == ["describe_schema", "run_sql", "submit_answer"]
    assert {name: schema(name).get("x-state") for name in templates()} == {
        "sql": None,
        "workflow": "initialMutableState",
        "custom": "initialState",
        "code-editing": None,
        "browser": "initialState",
    }


@pytest.mark.parametrize("name", schema_names())
def test_a_schema_file_is_tidy(name: str) -> None:
    text = schema_text(name)
    assert text.endswith("}\n")
    assert "\t" not in text
    assert json.loads(text) == schema(name)


def test_a_shop_and_its_login_can_be_written() -> None:
    login = schema("browser")["examples"][0]
    shop = {
        "initialUrl": "/",
        "initialState": {"cart": [], "orders": []},
        "pages": [
            *login["pages"],
            {
                "url": "/",
                "title": "Kettles",
                "elements": [
                    {"type": "heading", "level": 1, "text": "Kettles"},
                    {
                        "type": "section",
                        "label": "Enamel kettle",
                        "elements": [
                            {"type": "image", "alt": "A red kettle"},
                            {"type": "text", "text": "449 kr"},
                            {
                                "type": "button",
                                "id": "add-enamel",
                                "text": "Add to cart",
                                "mutates": {"path": "cart[]", "value": "enamel"},
                            },
                        ],
                    },
                    {"type": "link", "text": "Cart (${state.cart.length})", "href": "/cart"},
                ],
            },
            {
                "url": "/cart",
                "title": "Your cart",
                "elements": [
                    {
                        "type": "table",
                        "columns": ["Item", ""],
                        "rows": [["Enamel kettle", {"type": "link", "text": "Show", "href": "/"}]],
                    },
                    {
                        "type": "form",
                        "id": "order",
                        "action": "/thanks",
                        "mutates": {
                            "path": "orders[]",
                            "value": {"ship": "${args.ship}", "gift": "${args.gift}"},
                        },
                        "elements": [
                            {
                                "type": "radio",
                                "name": "ship",
                                "value": "post",
                                "label": "By post",
                                "checked": True,
                            },
                            {"type": "radio", "name": "ship", "value": "pickup", "label": "In the shop"},
                            {"type": "checkbox", "name": "gift", "label": "Gift wrap"},
                            {
                                "type": "select",
                                "name": "country",
                                "options": ["Norway", {"value": "se", "label": "Sweden"}],
                            },
                            {"type": "textarea", "name": "note", "maxLength": 200},
                            {"type": "input", "name": "zip", "pattern": "[0-9]{4}", "required": True},
                            {"type": "button", "text": "Order", "submit": True},
                        ],
                    },
                ],
            },
            {"url": "/thanks", "title": "Thanks", "html": "<h1>Thank you</h1>"},
        ],
    }
    assert faults("environment", {"template": "browser", "config": shop}) == []
    assert is_sound("browser", shop)
