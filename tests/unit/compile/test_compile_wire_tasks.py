"""The tasks of a large compiled file are read without places, and mean and point at the same as with them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from rollout.check import check
from rollout.compile import wire
from rollout.compile.wire import read_wire
from rollout.compile.wire_tasks import PackedTasks, split_tasks

TASKS: list[dict[str, Any]] = [
    {"instruction": "Say ä “b”", "hiddenGroundTruth": {"refunds": [{"id": 1.5}]}, "split": "dev"},
    {"instruction": "Do", "hiddenGroundTruth": {"refunds": [{"id": 10**30}]}, "split": "moon"},
]
ENVIRONMENT = {
    "slug": "r",
    "name": "R",
    "template": "workflow",
    "config": {
        "tools": [{"name": "refund", "kind": "action", "description": '"tasks":[', "stateArray": "refunds"}],
        "initialMutableState": {"refunds": []},
    },
    "tasks": TASKS,
}


@pytest.mark.parametrize("indent", [None, 1])
@pytest.mark.parametrize("is_sound", [True, False])
def test_with_and_without_places_a_document_is_the_same(
    monkeypatch: pytest.MonkeyPatch, indent: int | None, is_sound: bool
) -> None:
    payload = {"environment": ENVIRONMENT, "verifier": {"primitives": [{"nam": "o"}]}}
    if is_sound:
        payload = json.loads(json.dumps(payload).replace("moon", "dev").replace('nam"', 'name"'))
    data = json.dumps(payload, indent=indent, ensure_ascii=False).encode()
    careful = read_wire(data, "a.json").document
    monkeypatch.setattr(wire, "_LARGE", 0)
    quick = read_wire(data, "a.json").document
    assert isinstance(quick.tasks, PackedTasks) and not isinstance(careful.tasks, PackedTasks)
    assert quick.value == careful.value
    assert [each.value for each in quick.tasks.read([])] == [each.value for each in careful.tasks.read([])]
    assert check(quick).diagnostics == check(careful).diagnostics
    route = ("tasks", 1, "hiddenGroundTruth", "refunds", 0, "id")
    assert quick.span(route) == careful.span(route)
    assert quick.span(("verifier", "primitives")) == careful.span(("verifier", "primitives"))


@pytest.mark.parametrize(
    "tasks",
    [
        '[{"instruction": "a", "instruction": "b"}]',
        '[{"instruction": "\\ud800"}]',
        '[{"n": NaN}]',
        '[{"n": 1e999}]',
        f'[{{"n": {"9" * 5000}}}]',
        '[{"n": 1},]',
        "[" * 101 + "]" * 101,
        "[" * 100_000 + "]" * 100_000,
        '{"a": 1}',
        '["a"',
    ],
)
def test_what_the_careful_reader_tells_of_is_left_to_it(tasks: str) -> None:
    assert split_tasks(f'{{"environment": {{"slug": "a", "tasks": {tasks}}}}}') is None


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"environment": []}', '{"environment": {}, "tasks": [1]}', "{1: 2}"]
)
def test_another_shape_is_left_to_it_too(text: str) -> None:
    assert split_tasks(text) is None


@pytest.mark.parametrize(
    "text",
    [
        '{"environment": {"tasks": [{"a": 1}]}, "environment": 5}',
        '{"environment": {"tasks": [{"a": 1}], "tasks": []}}',
        '{"environment": {"slug": "a", "tasks": [{"a": 1}]} "verifier": null}',
        '{"environment": {"slug": "a", "tasks": [{"a": 1}]}, "verifier": null} 5',
    ],
)
def test_what_is_wrong_around_the_tasks_is_told_as_for_a_small_file(
    monkeypatch: pytest.MonkeyPatch, text: str
) -> None:
    careful = read_wire(text.encode(), "a.json").document
    monkeypatch.setattr(wire, "_LARGE", 0)
    quick = read_wire(text.encode(), "a.json").document
    assert careful.problems and quick.problems == careful.problems
    assert quick.value == careful.value
