"""A run that an endpoint keeps is compared as one in a folder is."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from rollout.analysis.compare import Pairing, Side
from rollout.analysis.compare.comparing import compare, is_other_environment, other_version
from rollout.analysis.compare.folder import read_side
from rollout.analysis.compare.words import notes
from rollout.check import check
from rollout.cli import main
from rollout.engine import Outcome
from rollout.environment import Environment
from rollout.platform.comparing import label_of, side_of
from rollout.platform.errors import RolloutError
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
    assert (side.digest, side.identity, side.pairing) == ("", "1", Pairing.ID)


def as_published(*asked: str, **more: Any) -> Side:
    run = cast(Run, {key: value for key, value in a_run(**more).items() if key not in ("digest", "options")})
    rollouts = [
        cast(Rollout, {"id": f"{n}", "taskId": f"{n}", "instruction": text, "passed": True, "score": 1.0})
        for n, text in enumerate(asked)
    ]
    return side_of(run, rollouts, None)


def test_without_a_version_tasks_are_paired_by_what_they_ask_and_not_by_their_ids() -> None:
    before, after = (
        as_published("Refund O-1.", "Refund O-2."),
        as_published("Refund O-2.", "Refund O-3.", id="other"),
    )
    found = compare(before, after)
    assert [(pair.name, pair.baseline.all) for pair in found.pairs] == [("0 Refund O-2.", 1)]
    assert (found.only_baseline, found.only_trained) == (["0 Refund O-1."], ["1 Refund O-3."])
    assert (found.pairing, found.is_version_known) == (Pairing.ASKED, False)
    said = list(notes(found))
    assert said[0].startswith("It is not known whether the environment was the same in both runs")
    assert said[1].startswith("Tasks are paired by what they ask, instruction and input")
    assert compare(as_published(""), as_published("")).pairing is Pairing.ID


def test_tasks_that_ask_the_same_of_other_input_are_not_the_same() -> None:
    asked: Any = {"id": "1", "taskId": "1", "instruction": "Refund it.", "passed": True, "score": 1.0}
    first, second = (
        side_of(a_run(digest=""), [cast(Rollout, {**asked, "input": {"order": order}})], None)
        for order in ("O-1", "O-2")
    )
    assert compare(first, first).pairs and not compare(first, second).pairs


def test_environments_of_one_name_are_told_apart_by_what_the_endpoint_knows_them_by() -> None:
    before, after = as_published("Do."), as_published("Do.", environmentId="2")
    assert is_other_environment(before, after) and not is_other_environment(before, before)
    assert other_version(before, after) == ["environment"]
    assert other_version(before, before) == []


@pytest.mark.parametrize("score", [1.5, -0.1])
def test_a_score_that_is_none_is_never_counted(score: float) -> None:
    with pytest.raises(RolloutError, match=f"The score of the rollout 0 is {score}, and not from 0 to 1"):
        side_of(a_run(), [a_rollout(0, True, score=score)], desk())


def test_what_is_said_to_have_passed_without_a_score_is_an_error() -> None:
    (told,) = side_of(a_run(), [a_rollout(0, True, score=None)], desk()).rollouts
    assert (told.outcome, told.score) == (Outcome.ERROR, None)


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


def test_a_task_is_called_by_its_id_and_the_beginning_of_what_it_asks() -> None:
    side = as_published(f"Refund\n order {'O' * 60}", "")
    assert [each.task for each in side.rollouts] == [f"0 Refund order {'O' * 34}…", "1"]
