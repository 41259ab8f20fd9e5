"""Pairs of environments as people have them, and the whole review of each beside it, in all three formats."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from rollout.compile.change import Effect
from rollout.compile.read_sides import sides_at
from rollout.compile.review import Entry
from rollout.compile.review_json import describe
from rollout.compile.review_markdown import render as render_markdown
from rollout.compile.review_text import render as render_text
from rollout.compile.sides import compare_sides

CASES = Path(__file__).parents[2] / "cases" / "diff"
NAMES = sorted(path.name for path in CASES.iterdir() if path.is_dir())


@pytest.fixture
def review(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    monkeypatch.chdir(CASES / request.param)
    return compare_sides(sides_at("before"), sides_at("after"))


def reversed_review(name: str, monkeypatch: pytest.MonkeyPatch) -> list[Entry]:
    monkeypatch.chdir(CASES / name)
    return compare_sides(sides_at("after"), sides_at("before"))


@pytest.mark.parametrize(("review", "name"), [(name, name) for name in NAMES], indirect=["review"], ids=NAMES)
def test_a_pair_is_reviewed_as_expected(
    review: list[Entry], name: str, request: pytest.FixtureRequest
) -> None:
    shown = {
        "expected.txt": render_text(review),
        "expected.md": render_markdown(review),
        "expected.json": json.dumps(describe(review), ensure_ascii=False, indent=2),
    }
    for file, text in shown.items():
        path = CASES / name / file
        if request.config.getoption("--update-expected"):
            path.write_text(f"{text}\n", encoding="utf-8")
        assert path.read_text(encoding="utf-8") == f"{text}\n", file


@pytest.mark.parametrize("name", NAMES)
def test_the_other_way_round_there_are_as_many_changes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(CASES / name)
    there = compare_sides(sides_at("before"), sides_at("after"))[0].difference
    back = reversed_review(name, monkeypatch)[0].difference
    assert there is not None and back is not None
    assert back.counts == there.counts
    assert back.kept_tasks == there.kept_tasks
    assert (back.before, back.after) == (there.after, there.before)


@pytest.mark.parametrize(
    ("name", "effects"),
    [
        ("reformatted", set()),
        ("reordered", set()),
        ("local-only", {Effect.METADATA}),
        ("grading", {Effect.GRADING, Effect.METADATA}),
        ("code-editing", {Effect.AGENT}),
        ("judging-code", {Effect.GRADING}),
        ("hidden-tests", {Effect.GRADING}),
    ],
)
def test_each_change_has_the_effect_that_a_rollout_would_feel(
    name: str, effects: set[Effect], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(CASES / name)
    difference = compare_sides(sides_at("before"), sides_at("after"))[0].difference
    assert difference is not None
    assert {change.effect for change in difference.changes} == effects
    assert difference.is_comparable == (effects <= {Effect.METADATA})
