"""What is said to be impossible in the final state is what no row that a tool writes ever makes true."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.check.reach import cannot_be, dead_end
from rollout.check.subject import Subject
from rollout.language.compare import compare
from rollout.language.paths import MISSING, get, parse
from rollout.source import json as json_reader
from rollout.source.document import Document
from rollout.source.place import Parsed
from rollout.source.tasks import InlineTasks
from rollout.source.text import SourceFile

START = [{"order_id": "O-0", "amount": 1, "note": None}]
TOOLS = [
    {
        "name": "refund",
        "kind": "action",
        "stateArray": "refunds",
        "paramsSchema": {
            "order_id": "string",
            "amount": "number",
            "by": {"type": "string", "optional": True},
        },
    },
    {
        "name": "cancel",
        "kind": "action",
        "appendTo": "refunds",
        "paramsSchema": {"order_id": "string"},
        "value": {"order_id": "${args.order_id}", "amount": 0, "text": "No. ${args.order_id}"},
    },
]
NAMES = st.sampled_from(["O-0", "O-1", ""])
ROWS = st.one_of(
    st.fixed_dictionaries(
        {"order_id": NAMES, "amount": st.sampled_from([0, 1, 2.5])}, optional={"by": NAMES}
    ),
    NAMES.map(lambda name: {"order_id": name, "amount": 0, "text": f"No. {name}"}),
)
WANTED = st.one_of(
    st.sampled_from([0, 1, 2, -1, 1.0, "O-1", "No. O-1", None, True, "0", {}]),
    st.lists(st.one_of(ROWS, st.sampled_from([START[0], {}, 1])), max_size=3),
    ROWS,
)
PATHS = st.sampled_from(
    ["refunds", "refunds.length", "refunds[0]", "refunds.1", "refunds.01", "refunds.lenght"]
    + [f"refunds[{n}].{name}" for n in (0, 2) for name in ("order_id", "amount", "text", "note", "x")]
)
OPTIONS = st.fixed_dictionaries(
    {"ignore_order": st.booleans(), "tolerance": st.sampled_from([0.0, 0.5]), "subset": st.booleans()}
)


def subject(config: dict[str, Any], template: str = "workflow") -> Subject:
    value = {"template": template, "config": config}
    source = SourceFile(Path("environment.json"), "environment.json", json.dumps(value))
    parsed = json_reader.parse(source, [])
    assert parsed is not None
    tasks = InlineTasks(Parsed([], parsed.place))
    return Subject(Document(Path(), "environment.json", parsed.value, parsed.place, tasks, (source,)))


@settings(max_examples=300, deadline=None)
@given(st.booleans(), st.lists(ROWS, max_size=3), PATHS, WANTED, OPTIONS)
def test_no_rollout_reaches_what_is_said_to_be_out_of_reach(
    has_start: bool, rows: list[Any], path: str, wanted: Any, options: dict[str, Any]
) -> None:
    start = START if has_start else []
    looked_at = subject({"tools": TOOLS, "initialMutableState": {"refunds": start}})
    steps = parse(path).steps
    found = get({"refunds": [*start, *rows]}, steps)
    if dead_end(looked_at, steps) is not None:
        assert found is MISSING
    elif found is not MISSING and compare(wanted, found, **options) is None:
        assert cannot_be(looked_at, steps, wanted, options) is None


@pytest.mark.parametrize(
    ("wanted", "why"),
    [
        ("open", None),
        ("shipped", None),
        ("shiped", "“status” is “open” or “shipped”, and never “shiped”"),
        (1, "“status” is “open” or “shipped”, and never 1"),
    ],
)
def test_a_value_that_only_literals_replace_is_one_of_them(wanted: Any, why: str | None) -> None:
    tool = {
        "name": "ship",
        "paramsSchema": {},
        "response": {},
        "mutates": {"path": "status", "value": "shipped"},
    }
    looked_at = subject({"tools": [tool], "initialState": {"status": "open"}}, "custom")
    options = {"ignore_order": False, "tolerance": 0.0, "subset": False}
    assert cannot_be(looked_at, ("status",), wanted, options) == why
