"""What is said of an idle agent beforehand is what the verifiers say of it afterwards."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.check.start import comparison, idle_score, matches_start
from rollout.check.subject import Subject
from rollout.environment import Task
from rollout.family import member
from rollout.source import json as json_reader
from rollout.source.document import Document
from rollout.source.place import Parsed
from rollout.source.tasks import InlineTasks
from rollout.source.text import SourceFile
from rollout.verifiers import CannotJudgeError, Case

CELLS = st.sampled_from([1, 1.0, True, "1", None])
ROWS = st.lists(st.dictionaries(st.sampled_from(["id", "n"]), CELLS, max_size=2), max_size=3)
PATHS = st.sampled_from(["refunds", "refunds.length", "orders[0].id", "orders.0"])
STATES = st.dictionaries(st.sampled_from(["refunds", "orders"]), ROWS, min_size=1, max_size=2)
OPTIONS = st.fixed_dictionaries(
    {},
    optional={"ignoreOrder": st.booleans(), "subset": st.booleans(), "tolerance": st.sampled_from([0, 0.5])},
)


def subject(state: dict[str, Any], verifier: dict[str, Any] | None) -> Subject:
    value: dict[str, Any] = {"template": "custom", "config": {"tools": [], "initialState": state}}
    if verifier is not None:
        value["verifier"] = verifier
    source = SourceFile(Path("environment.json"), "environment.json", json.dumps(value))
    parsed = json_reader.parse(source, [])
    assert parsed is not None
    tasks = InlineTasks(Parsed([], parsed.place))
    return Subject(Document(Path(), "environment.json", parsed.value, parsed.place, tasks, (source,)))


def judged(kind: str, options: dict[str, Any], state: dict[str, Any], truth: dict[str, Any]) -> float | None:
    module = member("rollout.verifiers", kind)
    assert module is not None
    case = Case(Task("Do it.", truth), "custom", state, state, "", ())
    try:
        return float(module.judge(case, options).value)
    except CannotJudgeError:
        return None


@settings(max_examples=200, deadline=None)
@given(STATES, STATES, OPTIONS)
def test_a_ground_truth_holds_at_the_start_exactly_where_an_idle_rollout_would_match_it(
    state: dict[str, Any], truth: dict[str, Any], options: dict[str, Any]
) -> None:
    assert matches_start(truth, state, comparison(options)) == (
        judged("ground_truth_match", options, state, truth) == 1
    )


@settings(max_examples=200, deadline=None)
@given(STATES, st.dictionaries(PATHS, ROWS | st.integers(0, 2), min_size=1, max_size=2), OPTIONS)
def test_an_idle_agent_satisfies_a_state_match_exactly_where_it_would_be_judged_so(
    state: dict[str, Any], expected: dict[str, Any], options: dict[str, Any]
) -> None:
    primitive = {"name": "state", "type": "state_match", "expected": expected, **options}
    # The second primitive keeps the total above nothing where the first can never fail and is left out.
    other = {"name": "spoke", "type": "contains_terms", "terms": ["done"]}
    score = idle_score(subject(state, {"primitives": [primitive, other]}))
    assert score is not None
    passes = judged("state_match", {"expected": expected, **options}, state, {}) == 1
    assert score.sure == 0 or passes
    assert score.total == 1 or (score.sure == 1) == passes


@pytest.mark.parametrize(
    ("primitive", "sure"),
    [
        ({"type": "no_tool_errors"}, 1),
        ({"type": "no_tool_errors", "not": True}, 0),
        ({"type": "tool_not_called", "tool": "refund"}, 1),
        ({"type": "tool_was_called", "tool": "refund"}, 0),
        ({"type": "tool_was_called", "tool": "refund", "not": True}, 1),
        ({"type": "tool_call_count", "max": 3}, 1),
        ({"type": "tool_call_count", "min": 1}, 0),
        ({"type": "contains_terms", "terms": ["done"]}, 0),
        ({"type": "contains_terms", "terms": ["refunds"], "field": "finalState"}, 0),
        ({"type": "output_matches", "pattern": "done"}, 0),
        ({"type": "llm_judge", "rubric": "…", "model": "a/b"}, 0),
    ],
)
def test_only_what_is_certain_of_an_idle_agent_counts(primitive: dict[str, Any], sure: float) -> None:
    score = idle_score(subject({"refunds": []}, {"primitives": [{"name": "it", **primitive}]}))
    assert score is not None
    assert (score.total, score.sure) == (1, sure)


def test_the_threshold_decides_whether_the_idle_score_passes() -> None:
    primitives = [
        {"name": "no errors", "type": "no_tool_errors", "weight": 3},
        {"name": "state", "type": "ground_truth_match", "weight": 1},
        {"name": "said", "type": "contains_terms", "terms": ["done"], "weight": 1},
    ]
    strict = idle_score(subject({"refunds": []}, {"primitives": primitives, "passThreshold": 0.8}))
    lax = idle_score(subject({"refunds": []}, {"primitives": primitives, "passThreshold": 0.6}))
    assert strict is not None
    assert lax is not None
    assert (strict.passes(), strict.passes(with_ground_truth=True)) == (False, True)
    assert lax.passes()


def test_without_a_verifier_the_ground_truth_alone_decides() -> None:
    score = idle_score(subject({"refunds": []}, None))
    assert score is not None
    assert (score.passes(), score.passes(with_ground_truth=True)) == (False, True)
