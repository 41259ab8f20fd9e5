"""Tasks that ask the same are found in a stream, and a hash that two tasks share makes no finding."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.check import twins
from rollout.check.twins import Twins, asks_the_same, question
from rollout.source import read
from rollout.source.document import Document

INPUTS = st.dictionaries(
    st.sampled_from("abc"),
    st.recursive(
        st.sampled_from([0, 1, 1.0, True, False, None, "1", 2**70, 0.5]),
        lambda inner: st.lists(inner, max_size=2),
    ),
    max_size=3,
)


def document(folder: Path, tasks: list[dict[str, Any]]) -> Document:
    (folder / "environment.yaml").write_text("template: custom\nconfig: {tools: []}\n")
    (folder / "tasks.jsonl").write_text("".join(json.dumps(task) + "\n" for task in tasks))
    return read(folder)[0]


def verdicts(folder: Path, tasks: list[dict[str, Any]]) -> list[tuple[int, bool] | None]:
    found = document(folder, tasks)
    asked = Twins(found)
    answers = [asked.of(record) for record in found.tasks.read([])]
    return [None if twin is None else (twin.record.index, twin.same_split) for twin in answers]


def test_a_twin_of_the_same_split_is_told_from_one_of_another(tmp_path: Path) -> None:
    tasks = [
        {"instruction": "Refund.", "input": {"a": 1, "b": 2}},
        {"instruction": "Refund.", "input": {"a": 1}},
        {"instruction": "Refund.", "input": {"b": 2.0, "a": 1}, "split": "test"},
        {"instruction": "Refund.", "input": {"a": 1, "b": 2}, "split": "test"},
        {"instruction": "Refund.", "input": {"a": 1, "b": 2}, "split": "dev"},
    ]
    assert verdicts(tmp_path, tasks) == [None, None, (0, False), (2, True), (0, True)]


def test_no_input_and_an_empty_one_are_the_same(tmp_path: Path) -> None:
    assert verdicts(tmp_path, [{"instruction": "A"}, {"instruction": "A", "input": {}}]) == [None, (0, True)]


def test_tasks_with_the_same_hash_are_compared_before_anything_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(twins, "question", lambda value: 7)
    assert verdicts(tmp_path, [{"instruction": "A"}, {"instruction": "B"}, {"instruction": "A"}]) == [
        None,
        None,
        (0, True),
    ]


@settings(max_examples=300, deadline=None)
@given(INPUTS, INPUTS)
def test_inputs_that_are_equal_have_the_same_hash(one: dict[str, Any], other: dict[str, Any]) -> None:
    first, second = {"instruction": "A", "input": one}, {"instruction": "A", "input": other}
    shuffled = {"instruction": "A", "input": dict(reversed(list(one.items())))}
    assert question(first) == question(shuffled)
    assert not asks_the_same(first, second) or question(first) == question(second)
