"""The compiled validator, which passes what is right, and the slow one, which finds the words, agree on every value."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import yaml
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from rollout.check.schema import explain, faults, is_sound, task_shape, task_validator
from rollout.source.contract import schema, schema_names

SEEDS: dict[str, list[Any]] = {
    "task": [
        {"instruction": "Refund O-1.", "hidden_ground_truth": {"refunds": [1]}, "split": "test", "id": "a"},
        {
            "instruction": "Sum it up.",
            "hiddenGroundTruth": {},
            "input": {"day": 3},
            "solution": [{"tool": "add", "args": {"a": 1}}, {"answer": "3"}],
        },
    ],
    "environment": [
        yaml.safe_load(text)
        for text in (
            """
            slug: refund-agent
            name: Refund
            template: workflow
            config:
              tools:
                - {name: look, kind: lookup, fixturePath: "orders.${args.id}", paramsSchema: {id: string}}
                - {name: find, kind: lookup, fromArray: rows, matchField: id, paramsSchema: {id: {type: string}}}
                - {name: refund, kind: action, appendTo: refunds, value: {id: "${args.id}"}}
                - {name: note, kind: action, stateArray: notes}
                - {name: ping, kind: mock, response: null}
              fixtures: {orders: {O-1: {amount: 1.0}}}
              initialMutableState: {refunds: []}
            verifier:
              passThreshold: 0.5
              primitives:
                - {name: a, type: state_match, expected: {refunds.length: 1}, weight: 2, not: false}
                - {name: b, type: contains_terms, terms: [refund, 3], anyOf: true}
                - {name: c, type: tool_call_count, min: 1, max: 3.0}
                - {name: d, type: python, function: "grade.py:grade"}
            """,
            """
            template: custom
            config:
              tools:
                - {name: go, response: "${args.x}", mutates: {path: a.b, value: 1}}
                - {name: stop, mutates: [{path: "log[]"}], paramsSchema: {type: object, properties: {x: true}}}
              initialState: {log: []}
            """,
            """
            template: code-editing
            config:
              files: {a.py: "x = 1"}
              commands: {test: pytest, lint: {command: ruff, timeout: 30}}
            """,
            "{template: sql, schema: CREATE TABLE t (id INTEGER), seed: ''}",
        )
    ]
    + [{"template": "browser", "config": each} for each in schema("browser")["examples"]],
    "payload": list(schema("payload")["examples"]),
}

WORDS = sorted(
    {
        "instruction",
        "tool",
        "kind",
        "type",
        "lookup",
        "state_match",
        "x-note",
        "x",
        "",
        "\n",
        "slug\n",
        "grade.py:grade\n",
    }
    | {
        "a" * 200,
        "é" * 200,
        "😀" * 201,
        "dev",
        "dev ",
        "workflow",
        "sql",
        "object",
        "string",
        "not",
        "config",
    }
)

scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 3),
    st.sampled_from([0.0, -0.0, 1.0, 1.5, -1.0, 1e300, 2**53, 2**64, -(2**64), 10**40, 200.0, 5e-324]),
    st.sampled_from(WORDS),
    st.text(alphabet=st.characters(exclude_categories=["Cs"]), max_size=6),
)
junk = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=6,
)


def places(value: Any) -> list[tuple[Any, Any]]:
    """Every (container, key or index) of a value."""
    found: list[tuple[Any, Any]] = []
    left = [value]
    while left:
        each = left.pop()
        steps = list(each) if isinstance(each, dict) else range(len(each)) if isinstance(each, list) else ()
        for step in steps:
            found.append((each, step))
            left.append(each[step])
    return found


@st.composite
def broken(draw: st.DrawFn, name: str) -> Any:
    """A value of the schema with up to three things changed in it: replaced, removed, renamed, added."""
    value = copy.deepcopy(draw(st.sampled_from(SEEDS[name])))
    for _ in range(draw(st.integers(0, 3))):
        spots = places(value)
        if not spots:
            break
        container, step = draw(st.sampled_from(spots))
        match draw(st.sampled_from(["replace", "remove", "rename", "add"])):
            case "replace":
                container[step] = draw(junk)
            case "remove":
                del container[step]
            case "rename" if isinstance(container, dict):
                container[draw(st.sampled_from(WORDS))] = container.pop(step)
            case _ if isinstance(container, dict):
                container[draw(st.sampled_from(WORDS))] = draw(junk)
            case _:
                container.append(draw(junk))
    return value


def plainly_valid(name: str, value: Any) -> bool:
    """What the library says with nothing of ours added."""
    files = [(schema(each)["$id"], DRAFT202012.create_resource(schema(each))) for each in schema_names()]
    return Draft202012Validator(schema(name), registry=Registry().with_resources(files)).is_valid(value)


def assert_agreement(name: str, value: Any) -> None:
    sound = is_sound(name, value)
    told = explain(name, value)
    assert (told == []) is sound, told
    assert all("detail" not in fault.facts for fault in faults(name, value))
    assert faults(name, value) == told


@given(broken("task"))
@example({"instruction": "x", "id": "😀" * 200})
@example({"instruction": "x", "id": "😀" * 201})
@settings(max_examples=150, deadline=None)
def test_validators_agree_on_tasks(value: Any) -> None:
    assert_agreement("task", value)
    assert task_validator()(value) is (task_shape(value) == [])
    assert plainly_valid("task", value) is (task_shape(value) == [])


@given(broken("environment"))
@example({"template": "sql", "schema": "x", "slug": "refund\n"})
@example(
    {
        "template": "sql",
        "schema": "x",
        "verifier": {"primitives": [{"name": "a", "type": "no_tool_errors", "weight": 1e309}]},
    }
)
@example(
    {
        "template": "sql",
        "schema": "x",
        "verifier": {"primitives": [{"name": "a", "type": "tool_call_count", "min": 10**400}]},
    }
)
@settings(max_examples=250, deadline=None)
def test_validators_agree_on_environments(value: Any) -> None:
    assert_agreement("environment", value)


@given(broken("payload"))
@settings(max_examples=100, deadline=None)
def test_validators_agree_on_payloads(value: Any) -> None:
    assert_agreement("payload", value)


@given(junk)
@settings(max_examples=100, deadline=None)
def test_validators_agree_on_anything(value: Any) -> None:
    for name in ("task", "verifier", "payload", "environment"):
        assert_agreement(name, value)


@pytest.mark.parametrize(("name", "value"), [(name, each) for name, seeds in SEEDS.items() for each in seeds])
def test_the_seeds_are_sound(name: str, value: Any) -> None:
    assert faults(name, value) == []


def test_every_fault_points_into_the_value() -> None:
    @given(broken("environment"))
    @settings(max_examples=100, deadline=None)
    def check(value: Any) -> None:
        for fault in explain("environment", value):
            here = value
            for step in fault.route:
                here = here[step]

    check()
