"""Whatever JSON a document holds, and however odd, checking it ends in findings, not in an exception."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rollout.check import check
from rollout.source import json as json_reader
from rollout.source.document import Document
from rollout.source.place import Parsed, Problem
from rollout.source.tasks import InlineTasks
from rollout.source.text import SourceFile

WORDS = st.sampled_from(
    [
        *(
            "name",
            "id",
            "kind",
            "tool",
            "tools",
            "args",
            "answer",
            "type",
            "properties",
            "required",
            "items",
            "$ref",
        ),
        *(
            "lookup",
            "action",
            "mock",
            "refund",
            "refunds",
            "orders",
            "order_id",
            "amount",
            "O-1",
            "string",
            "number",
        ),
        *(
            "fixturePath",
            "fromArray",
            "matchField",
            "stateArray",
            "appendTo",
            "value",
            "response",
            "mutates",
            "path",
        ),
        *(
            "paramsSchema",
            "fixtures",
            "initialState",
            "initialMutableState",
            "description",
            "files",
            "pages",
            "url",
        ),
        *(
            "instruction",
            "input",
            "split",
            "solution",
            "hidden_ground_truth",
            "optional",
            "enum",
            "pattern",
            "x-note",
        ),
        *(
            "${args.order_id}",
            "${args}",
            "${state.refunds[0].id}",
            "${fixtures.orders}",
            "${task.input.day}",
            "${",
        ),
        *(
            "orders.${args.order_id}",
            "refunds[]",
            "refunds",
            "a..b",
            "refunds[0]",
            "refunds.length",
            "#/$defs/x",
            "#",
        ),
        *(
            "",
            " ",
            "TODO: this",
            "lorem ipsum",
            "sk-ant-api03-Qm7Zt4Lx9RbVqWm7Nc2PfYh8",
            "[a-z",
            "\u2028",
            "0",
            "length",
        ),
    ]
)
SCALARS = st.one_of(
    WORDS,
    st.text(max_size=6),
    st.none(),
    st.booleans(),
    st.integers(),
    st.sampled_from([2**53 + 1, 10**60, -1, 0]),
    st.floats(allow_nan=False, allow_infinity=False),
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(WORDS | st.text(max_size=3), inner, max_size=4)
    ),
    max_leaves=8,
)
PARAMETERS = st.dictionaries(
    st.sampled_from(["order_id", "amount", "id", "type", "properties", "$defs", "required"]),
    st.sampled_from(["string", "number", "str"])
    | st.fixed_dictionaries(
        {},
        optional={
            "type": st.sampled_from(["string", "array", "dict", ["string", "null"]]) | VALUES,
            "optional": st.booleans(),
            "$ref": WORDS,
            "pattern": WORDS,
            "properties": st.dictionaries(WORDS, VALUES, max_size=2),
            "enum": VALUES,
        },
    )
    | VALUES,
    max_size=3,
)
NAMES = st.sampled_from(["refund", "lookup", "a b", "tool"])
PATHS = WORDS.filter(bool)
MUTATION = st.fixed_dictionaries({"path": PATHS}, optional={"value": VALUES})
PARTS = {"paramsSchema": PARAMETERS, "description": WORDS}
LISTS = st.sampled_from(["orders", "refunds", "cart.items", "a..b"])
WORKFLOW_TOOL = st.one_of(
    st.fixed_dictionaries({"name": NAMES, "kind": st.just("lookup"), "fixturePath": PATHS}, optional=PARTS),
    st.fixed_dictionaries(
        {
            "name": NAMES,
            "kind": st.just("lookup"),
            "fromArray": LISTS,
            "matchField": st.sampled_from(["id", "order_id"]),
        },
        optional=PARTS,
    ),
    st.fixed_dictionaries({"name": NAMES, "kind": st.just("action"), "stateArray": PATHS}, optional=PARTS),
    st.fixed_dictionaries(
        {"name": NAMES, "kind": st.just("action"), "appendTo": PATHS, "value": VALUES}, optional=PARTS
    ),
    st.fixed_dictionaries({"name": NAMES, "kind": st.just("mock"), "response": VALUES}, optional=PARTS),
)
CUSTOM_TOOL = st.fixed_dictionaries(
    {"name": NAMES, "response": VALUES},
    optional={**PARTS, "mutates": MUTATION | st.lists(MUTATION, min_size=1, max_size=2)},
)
ROWS = st.lists(
    st.dictionaries(st.sampled_from(["id", "order_id", "amount"]), SCALARS, max_size=3), max_size=3
)
STATE = st.dictionaries(st.sampled_from(["refunds", "orders", "cart"]), ROWS | VALUES, max_size=3)
WORKFLOW = st.fixed_dictionaries(
    {"tools": st.lists(WORKFLOW_TOOL, min_size=1, max_size=3)},
    optional={"fixtures": STATE, "initialMutableState": STATE},
)
CUSTOM = st.fixed_dictionaries(
    {"tools": st.lists(CUSTOM_TOOL, min_size=1, max_size=3)}, optional={"initialState": STATE}
)
STEP = st.one_of(
    st.fixed_dictionaries({"tool": NAMES}, optional={"args": STATE | PARAMETERS}),
    st.fixed_dictionaries({"answer": WORDS}),
)
TASK = st.fixed_dictionaries(
    {"instruction": WORDS},
    optional={
        "id": st.sampled_from(["a", "b"]),
        "split": st.sampled_from(["dev", "test"]),
        "input": STATE,
        "hidden_ground_truth": STATE,
        "solution": st.lists(STEP, max_size=3),
    },
)
PRIMITIVE = st.one_of(
    st.fixed_dictionaries(
        {"name": NAMES, "type": st.just("ground_truth_match")},
        optional={"subset": st.booleans(), "tolerance": st.floats(0, 2), "weight": st.floats(0, 2)},
    ),
    st.fixed_dictionaries(
        {
            "name": NAMES,
            "type": st.just("state_match"),
            "expected": st.dictionaries(PATHS, VALUES, min_size=1, max_size=2),
        },
        optional={"not": st.booleans()},
    ),
    st.fixed_dictionaries({"name": NAMES, "type": st.just("contains_terms"), "terms": st.just(["refund"])}),
    st.fixed_dictionaries({"name": NAMES, "type": st.just("output_equals"), "groundTruth": PATHS}),
    st.fixed_dictionaries({"name": NAMES, "type": st.just("no_tool_errors")}),
)
VERIFIER = st.fixed_dictionaries(
    {"primitives": st.lists(PRIMITIVE, min_size=1, max_size=3)}, optional={"passThreshold": st.floats(0.1, 1)}
)
MORE = {"tasks": st.lists(TASK, max_size=3), "verifier": VERIFIER}
SOUND = st.one_of(
    st.fixed_dictionaries({"template": st.just("workflow"), "config": WORKFLOW}, optional=MORE),
    st.fixed_dictionaries({"template": st.just("custom"), "config": CUSTOM}, optional=MORE),
)
ODD = st.fixed_dictionaries(
    {"template": st.sampled_from(["workflow", "custom", "code-editing", "browser", "sql"])},
    optional={
        "config": WORKFLOW
        | CUSTOM
        | st.fixed_dictionaries({"tools": st.lists(VALUES, max_size=3), "files": STATE})
        | VALUES,
        "tasks": st.lists(TASK | VALUES, max_size=3) | VALUES,
        "verifier": VERIFIER | VALUES,
        "x-note": VALUES,
    },
)


def document(value: dict[str, Any]) -> Document:
    source = SourceFile(Path("environment.json"), "environment.json", json.dumps(value))
    problems: list[Problem] = []
    parsed = json_reader.parse(source, problems)
    assert parsed is not None, problems
    place = parsed.place.child("tasks")
    tasks = InlineTasks(Parsed(parsed.value.pop("tasks", None), place or parsed.place))
    return Document(Path(), "environment.json", parsed.value, parsed.place, tasks, (source,))


def outcome(value: dict[str, Any]) -> list[str]:
    return [str(found.span) for found in check(document(value)).diagnostics]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(SOUND)
def test_a_document_of_the_right_shape_is_checked_to_the_end(value: dict[str, Any]) -> None:
    assert all(place.startswith("environment.json:1:") for place in outcome(value))


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(ODD | st.dictionaries(WORDS, VALUES, max_size=5))
def test_a_document_of_any_shape_is_checked_to_the_end(value: dict[str, Any]) -> None:
    assert all(place.startswith("environment.json:1:") for place in outcome(value))
