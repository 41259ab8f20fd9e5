"""Stored rollouts: what is written is read again, with nothing lost; what is no rollout is refused by name."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.engine import Failure, Mark, Outcome, Rollout, Trace, Verdict
from rollout.engine.stored import StoredError, dump, from_json
from rollout.models import Exchange, Sampling, Usage
from rollout.verifiers import ToolCall

texts = st.text(max_size=12) | st.sampled_from(["\u2028", "a\x85b", "\ud800", "\x00\r\n", "“é”"])
numbers = st.integers() | st.floats(allow_nan=False, allow_infinity=False)
values = st.recursive(
    st.none() | st.booleans() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
states = st.dictionaries(texts, values, max_size=3)
usages = st.builds(Usage, st.integers(0, 10**6), st.integers(0, 10**6), st.none() | st.floats(0, 10))
failures = st.builds(Failure, texts, st.sampled_from(["model", "environment", "verifier", "infrastructure"]))
traces = st.builds(
    Trace,
    environment=texts,
    template=texts,
    task=texts,
    model=texts,
    messages=st.lists(st.dictionaries(texts, values, max_size=3), max_size=3).map(tuple),
    calls=st.lists(
        st.builds(ToolCall, texts, texts, texts, st.none() | states, texts, st.none() | texts, st.booleans()),
        max_size=3,
    ).map(tuple),
    initial_state=states,
    final_state=states,
    final_output=texts,
    ending=st.sampled_from(["answer", "submitted", "silence", "tool_limit", "failure"]),
    usage=usages,
    failure=st.none() | failures,
    seconds=st.floats(0, 100),
    trial=st.integers(0, 9),
    sampling=st.builds(Sampling, st.none() | st.floats(0, 2), st.none(), st.none() | st.integers(0, 9)),
    exchanges=st.lists(
        st.builds(Exchange, texts, texts, usages, st.lists(texts, max_size=2).map(tuple)), max_size=2
    ).map(tuple),
)
marks = st.builds(
    Mark,
    texts,
    texts,
    st.floats(0, 10),
    st.none() | st.floats(0, 1),
    texts,
    st.none() | failures,
    states,
    st.booleans(),
    st.none() | usages,
)
verdicts = st.builds(
    Verdict,
    st.sampled_from(Outcome),
    st.none() | st.floats(0, 1),
    st.lists(marks, max_size=3).map(tuple),
    st.floats(0.1, 1),
    st.none() | failures,
)
rollouts = st.builds(Rollout, traces, verdicts)

PLAIN = Rollout(
    Trace("desk", "workflow", "t", "m", (), (), {}, {"n": 1}, "Done.", "answer", Usage()),
    Verdict(Outcome.UNSCORED, None, (), 1.0, Failure("No answer.", "model")),
)


def line(**changes: Any) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(dump(PLAIN))
    for path, value in changes.items():
        part, _, key = path.partition("__")
        if value is ...:
            del told[part][key]
        elif key:
            told[part][key] = value
        else:
            told[part] = value
    return told


@settings(max_examples=60, deadline=None)
@given(rollouts)
def test_a_rollout_is_read_again_as_it_was(rollout: Rollout) -> None:
    data = dump(rollout)
    assert data.endswith(b"\n")
    assert len(data.decode().splitlines()) == 1
    again = from_json(json.loads(data))
    # Seconds, evidence and what judges used count here, though they do not when two rollouts are compared.
    assert asdict(again) == asdict(rollout)
    assert again == rollout


def test_unscored_stays_unscored() -> None:
    assert from_json(line()).verdict.outcome is Outcome.UNSCORED
    assert from_json(line()).verdict.score is None


@pytest.mark.parametrize("number", [math.nan, math.inf])
def test_what_is_no_json_is_not_written(number: float) -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        dump(replace(PLAIN, trace=replace(PLAIN.trace, final_state={"total": number})))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"trace__final_state": ...}, "has no final state"),
        ({"trace__final_state": None}, "has no final state"),
        ({"trace__initial_state": ...}, "has no state it started with"),
        ({"trace": None}, "has no trace"),
        ({"verdict": []}, "has no verdict"),
        ({"schema_version": 2}, "is of version 2, and this program reads version 1"),
        ({"trace__ending": "well"}, "has a trace that cannot be read (ValueError: well)"),
        ({"trace__calls": [{"tool": "a"}]}, "has a trace that cannot be read (KeyError: 'args')"),
        ({"trace__usage": {"tokens": 1}}, "has a trace that cannot be read"),
        ({"trace__final_output": None}, "has a trace that cannot be read (TypeError: None is no text)"),
        ({"trace__failure": {"sentence": "x", "charged_to": "you"}}, "has a trace that cannot be read"),
        ({"verdict__outcome": "won"}, "has a verdict that cannot be read"),
        ({"verdict__score": ...}, "has a verdict that cannot be read (KeyError: 'score')"),
    ],
)
def test_what_is_no_rollout_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(StoredError) as caught:
        from_json(line(**changes))
    assert str(caught.value).startswith(words)
