"""A run that an endpoint keeps is compared as one in a folder is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from rollout.analysis.compare.comparing import compare, other_version
from rollout.analysis.compare.folder import read_side
from rollout.check import check
from rollout.cli import main
from rollout.engine import Outcome
from rollout.environment import Environment
from rollout.platform.comparing import label_of, side_of
from rollout.platform.results import Rollout, Run
from rollout.source import read

DESK = Path(__file__).parents[2] / "cases" / "models" / "desk"


def desk() -> Environment:
    (document,) = read(DESK)
    return check(document).environment()


def a_run(**more: Any) -> Run:
    said = {
        "id": "c907de92b3e24c38a78c964eade94bc2",
        "status": "done",
        "model": "noop",
        "n": 2,
        "progress": 2,
        "successRate": 0.5,
        "environmentName": "Desk",
        "environmentId": "1",
        "environmentSlug": "desk",
        "digest": "sha256:0",
        "template": "workflow",
        "options": {"n": 1, "temperature": 0.7, "maxToolCalls": 20},
    }
    return cast(Run, {**said, **more})


def a_rollout(place: int, passed: bool | None, **more: Any) -> Rollout:
    score = None if passed is None else float(passed)
    outcome = "error" if passed is None else "passed" if passed else "failed"
    said = {
        "id": f"{place}",
        "taskId": f"task-{place}",
        "taskIndex": place,
        "instruction": "",
        "split": "dev",
    }
    return cast(Rollout, {**said, "passed": passed, "score": score, "outcome": outcome, **more})


def test_tasks_are_known_by_their_content_whatever_they_are_called() -> None:
    environment = desk()
    rollouts = [a_rollout(0, True), a_rollout(1, False, taskId="other")]
    side = side_of(a_run(), rollouts, environment)
    assert [each.content for each in side.rollouts] == [task.content for task in environment.tasks[:2]]
    assert [(each.outcome, each.score) for each in side.rollouts] == [
        (Outcome.PASSED, 1.0),
        (Outcome.FAILED, 0.0),
    ]


def test_a_run_in_a_folder_and_one_at_an_endpoint_are_of_the_same_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["test", str(DESK), "--model", "noop", "--all", "--out", str(tmp_path / "run")])
    capsys.readouterr()
    folder = read_side(str(tmp_path / "run"))
    rollouts = [a_rollout(index, True) for index in range(len(desk().tasks))]
    endpoint = side_of(a_run(digest=folder.digest), rollouts, desk())
    assert {each.content for each in folder.rollouts} == {each.content for each in endpoint.rollouts}
    assert other_version(folder, endpoint) == []
    assert compare(folder, endpoint).pairs
    changed = replace(desk(), name="Another")
    assert other_version(folder, side_of(a_run(digest="sha256:1"), rollouts, changed)) == ["environment"]


def test_what_was_not_graded_has_no_score_and_says_whose_fault_it_is() -> None:
    rollouts = [
        a_rollout(0, None, chargedTo="model"),
        a_rollout(1, None, outcome="unscored", chargedTo="verifier"),
    ]
    error, unscored = side_of(a_run(), rollouts, desk()).rollouts
    assert (error.outcome, error.score, error.charged_to) == (Outcome.ERROR, None, "model")
    assert (unscored.outcome, unscored.score, unscored.charged_to) == (Outcome.UNSCORED, None, "verifier")


def test_an_endpoint_that_only_answers_as_published_is_enough() -> None:
    published = {"id", "status", "successRate", "progress", "n", "model", "environmentName", "environmentId"}
    run = cast(Run, {key: value for key, value in a_run().items() if key in published})
    rollouts = [
        cast(Rollout, {"id": "1", "taskId": "a", "instruction": "", "passed": passed, "score": score})
        for passed, score in ((True, 1.0), (False, 0.25), (None, None), (False, None))
    ]
    side = side_of(run, rollouts, None)
    assert [(each.content, each.outcome, each.score) for each in side.rollouts] == [
        ("task a", Outcome.PASSED, 1.0),
        ("task a", Outcome.FAILED, 0.25),
        ("task a", Outcome.ERROR, None),
        ("task a", Outcome.ERROR, None),
    ]
    assert (side.environment, side.parts, side.settings) == ("Desk", {}, {})


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        ({}, None),
        ({"status": "running", "progress": 1}, "It is under way: 1 of 2 rollouts are done."),
        ({"status": "failed", "progress": 1, "reason": "No money."}, "1 of 2 rollouts are done. No money."),
        ({"status": "cancelled", "total": 2000, "done": 1500}, "1,500 of 2,000 rollouts are done."),
    ],
)
def test_a_run_that_is_not_whole_says_so(more: dict[str, Any], expected: str | None) -> None:
    assert side_of(a_run(**more), [], None).unfinished == expected


def test_a_run_is_called_by_its_id_and_its_name() -> None:
    assert label_of(a_run()) == "c907de92"
    assert label_of(a_run(name="after")) == "c907de92 “after”"
