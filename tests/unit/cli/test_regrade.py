"""`rollout regrade`: a run is judged again by another verifier, and only where it is of the same environment."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from typer.testing import CliRunner, Result

from rollout.cli import app

DESK = Path(__file__).parents[2] / "cases" / "regrade" / "desk"
LENIENT = """
primitives:
  - {name: outcome, type: ground_truth_match, weight: 0}
  - {name: refunded, type: tool_was_called, tool: refund}
  - {name: looked, type: tool_was_called, tool: get_order}
passThreshold: 0.5
"""
JUDGE = "\n  - {name: kind, type: llm_judge, rubric: The agent is kind., model: openai/gpt-4o-mini}\n"


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments))


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the desk, and the run that the oracle made in it beside, in `run`."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    shutil.copytree(DESK, tmp_path / "desk")
    assert invoke("test", "desk", "-m", "oracle", "--out", "run").exit_code == 1
    return tmp_path / "desk"


def edit(path: Path, before: str, after: str) -> None:
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def test_the_same_verifier_comes_to_the_same(desk: Path) -> None:
    ended = invoke("regrade", "run", "--with", "desk")
    assert (ended.exit_code, ended.stdout) == (0, "3 rollouts judged again: none with another outcome.\n")


def test_what_changed_is_shown_with_its_reasons(desk: Path, snapshot: SnapshotAssertion) -> None:
    (desk / "verifier.yaml").write_text(LENIENT, encoding="utf-8")
    ended = invoke("regrade", "run/rollouts.jsonl", "--with", "desk")
    assert ended.exit_code == 1
    assert ended.stdout == snapshot


def test_json_has_both_verdicts(desk: Path) -> None:
    edit(desk / "verifier.yaml", "[Refunded]", "[Paid]")
    ended = invoke("regrade", "run", "--with", "desk", "--json")
    envelope = json.loads(ended.stdout)
    data = envelope["data"]
    assert (ended.exit_code, envelope["command"], data["changed"], data["other_outcome"]) == (
        1,
        "regrade",
        2,
        1,
    )
    told = [(each["task"], each["before"]["outcome"], each["after"]["outcome"]) for each in data["rollouts"]]
    assert sorted(told) == [
        ("right", "passed", "failed"),
        ("unsolved", "error", "error"),
        ("wrong", "failed", "failed"),
    ]


def test_the_new_verdicts_can_be_written_and_judged_again(desk: Path) -> None:
    edit(desk / "verifier.yaml", "[Refunded]", "[Paid]")
    assert invoke("regrade", "run", "--with", "desk", "--out", "new.jsonl").exit_code == 1
    assert invoke("regrade", "run", "--with", "desk", "--out", "judged/new.jsonl").exit_code == 1
    assert Path("judged/new.jsonl").read_bytes() == Path("new.jsonl").read_bytes()
    again = invoke("regrade", "new.jsonl", "--with", "desk", "--across-versions")
    assert (again.exit_code, again.stdout) == (0, "3 rollouts judged again: none with another outcome.\n")
    taken = invoke("regrade", "run", "--with", "desk", "--out", "new.jsonl")
    assert (taken.exit_code, taken.stdout) == (2, "")
    assert "There is a file “new.jsonl” already." in taken.stderr


def test_a_judge_is_asked_only_when_wanted(desk: Path) -> None:
    with (desk / "verifier.yaml").open("a", encoding="utf-8") as file:
        file.write(JUDGE)
    ended = invoke("regrade", "run", "--with", "desk")
    assert ended.exit_code == 1
    assert (
        "kind: new, not judged. “openai/gpt-4o-mini” has to judge, and no model is asked here."
        in ended.stdout
    )
    assert "(1 failed → unscored, 1 passed → unscored)" in ended.stdout
    asked = invoke("regrade", "run", "--with", "desk", "--ask-judges")
    assert "OPENAI_API_KEY is not set" in asked.stdout


def change_task(desk: Path) -> None:
    edit(desk / "environment.yaml", "amount: 20}]", "amount: 2}]")


def change_tool(desk: Path) -> None:
    edit(desk / "environment.yaml", "customer: Bob", "customer: Eve")


def forget_version(desk: Path) -> None:
    (desk.parent / "run" / "run.json").unlink()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (change_task, "The rollouts are of another version: its tasks changed since."),
        (change_tool, "The rollouts are of another version: the environment changed since."),
        (forget_version, "It is not known which version of “desk” these rollouts are of."),
    ],
)
def test_another_version_is_refused_unless_asked_for(
    desk: Path, change: Callable[[Path], None], words: str
) -> None:
    change(desk)
    ended = invoke("regrade", "run", "--with", "desk")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert words in ended.stderr
    assert "--across-versions" in ended.stderr
    assert "3 rollouts judged again" in invoke("regrade", "run", "--with", "desk", "--across-versions").stdout


def test_a_task_that_is_gone_is_left_out_across_versions(desk: Path) -> None:
    edit(desk / "environment.yaml", "id: right", "id: left")
    ended = invoke("regrade", "run", "--with", "desk", "--across-versions")
    assert ended.stdout == (
        "2 rollouts judged again: none with another outcome; 1 left out, since their tasks are gone.\n"
    )


def rewrite(change: Callable[[dict[str, Any]], None]) -> None:
    path = Path("run/rollouts.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    change(lines[0])
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")


def test_a_trace_without_a_final_state_is_refused(desk: Path) -> None:
    rewrite(lambda line: line["trace"].pop("final_state"))
    ended = invoke("regrade", "run", "--with", "desk")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "in “run” has no final state." in ended.stderr


def test_rollouts_of_another_environment_are_refused(desk: Path) -> None:
    ended = invoke("regrade", "run", "--with", str(DESK.parent.parent / "models" / "desk"))
    assert ended.exit_code == 2
    edit(desk / "environment.yaml", "template: workflow", "template: workflow\nslug: bench")
    ended = invoke("regrade", "run", "--with", "desk", "--across-versions")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "The rollouts are of “desk”, not of “bench”." in ended.stderr
    assert "in a copy of it under another name, write “slug: desk”." in " ".join(ended.stderr.split())


def test_there_have_to_be_rollouts(desk: Path) -> None:
    ended = invoke("regrade", "runs", "--with", "desk")
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert "There are no rollouts in “runs”." in ended.stderr


def test_unscored_is_counted_apart_and_is_no_success(desk: Path) -> None:
    with (desk / "verifier.yaml").open("a", encoding="utf-8") as file:
        file.write(JUDGE)
    ended = invoke("test", "desk", "-m", "oracle", "--task", "right")
    assert ended.exit_code == 1
    assert "unscored, charged to the infrastructure: “openai” wants a key" in ended.stdout
    assert "0 passed, 0 failed, 0 errors, 1 unscored (passed 0 of 0 graded, 0 of 1 in all)" in ended.stdout
    data = json.loads(invoke("test", "desk", "-m", "oracle", "--task", "right", "--json").stdout)["data"]
    assert data["outcomes"]["unscored"] == 1
