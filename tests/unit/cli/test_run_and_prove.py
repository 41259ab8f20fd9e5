"""`rollout test` and `rollout prove`: what they show, what they give as JSON, and how they end."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from typer.testing import CliRunner, Result

from rollout.cli import app

ROOT = Path(__file__).parents[3]
CASES = ROOT / "tests" / "cases" / "models"


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch) -> Any:
    def invoke(*arguments: str, at: Path = CASES) -> Result:
        monkeypatch.chdir(at)
        return CliRunner().invoke(app, list(arguments))

    return invoke


def test_the_oracle_shows_calls_results_and_reasons(run: Any, snapshot: SnapshotAssertion) -> None:
    ended = run("test", "desk", "--model", "oracle")
    assert ended.exit_code == 1
    assert ended.stdout == snapshot


def test_doing_nothing_is_shown_too(run: Any, snapshot: SnapshotAssertion) -> None:
    ended = run("test", "desk", "--model", "noop", "--limit", "1")
    assert ended.exit_code == 1
    assert ended.stdout == snapshot


def test_a_task_that_passes_ends_with_zero(run: Any) -> None:
    ended = run("test", "desk", "-m", "oracle", "--task", "solved")
    assert ended.exit_code == 0
    assert ended.stdout.endswith(
        "1 passed, 0 failed, 0 errors (passed 1 of 1 graded, 1 of 1 in all); 2 more of its tasks were not run.\n"
    )


@pytest.mark.parametrize(
    ("options", "tasks"),
    [
        ((), ["solved", "wrong", "unsolved"]),
        (("--limit", "2"), ["solved", "wrong"]),
        (("--split", "test"), ["wrong"]),
        (("--task", "1"), ["wrong"]),
        (("--task", "unsolved", "--limit", "1"), ["unsolved"]),
    ],
)
def test_tasks_are_chosen_by_id_number_split_and_limit(run: Any, options: Any, tasks: list[str]) -> None:
    ended = run("test", "desk", "--model", "noop", "--json", *options)
    data = json.loads(ended.stdout)["data"]
    assert [rollout["trace"]["task"] for rollout in data["rollouts"]] == tasks


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--model", "oracel"), "There is no model “oracel” here."),
        (("--model", "noop", "--task", "solve"), "Did you mean “solved”?"),
        (("--model", "noop", "--task", "9"), "a number from 0 to 2"),
        (("--model", "noop", "--split", "train"), "The splits here are: dev, test."),
        (("--model", "noop", "--limit", "0"), "--limit"),
        ((), "--model"),
    ],
)
def test_wrong_usage_ends_with_two_and_a_way_out(run: Any, options: Any, words: str) -> None:
    ended = run("test", "desk", *options)
    assert ended.exit_code == 2
    assert words in ended.stderr
    assert ended.stdout == ""


def test_the_limit_of_tool_calls_is_kept(run: Any) -> None:
    ended = run("test", "desk", "-m", "oracle", "--task", "solved", "--max-tool-calls", "1")
    assert ended.exit_code == 1
    assert "The limit of 1 tool calls is reached." in ended.stdout
    assert "(stopped at the limit of tool calls)" in ended.stdout


def test_json_has_traces_verdicts_and_both_denominators_but_no_ground_truth(run: Any) -> None:
    ended = run("test", "desk", "--model", "oracle", "--json")
    envelope = json.loads(ended.stdout)
    data = envelope["data"]
    assert (envelope["schema_version"], envelope["command"], ended.exit_code) == (1, "test", 1)
    assert (data["passed"], data["graded"], data["all"]) == (1, 2, 3)
    assert [rollout["verdict"]["outcome"] for rollout in data["rollouts"]] == ["passed", "failed", "error"]
    assert data["rollouts"][2]["verdict"]["failure"]["charged_to"] == "environment"
    assert "ground_truth" not in ended.stdout.replace("ground_truth_match", "")
    assert "solution" not in json.dumps(data["rollouts"][0])


def test_an_environment_with_errors_is_not_run(run: Any) -> None:
    ended = run("test", "bad_environment", "--model", "noop", at=ROOT / "tests" / "cases" / "models")
    assert ended.exit_code == 1
    assert "[RL" in ended.stderr
    assert ended.stdout == ""


@pytest.mark.parametrize("command", [("test", "hostile", "--model", "oracle"), ("prove", "hostile")])
def test_text_that_would_take_over_the_terminal_is_made_harmless(run: Any, command: tuple[str, ...]) -> None:
    ended = run(*command)
    assert ended.exit_code == 0
    unsafe = {character for character in ended.stdout if not character.isprintable() and character != "\n"}
    assert unsafe == set()


def test_prove_tells_each_environment_and_each_defect(run: Any, snapshot: SnapshotAssertion) -> None:
    proofs = ROOT / "tests" / "cases" / "proofs"
    ended = [run("prove", name, at=proofs) for name in ("noop-passes", "oracle-falls-short")]
    assert [each.exit_code for each in ended] == [1, 1]
    assert "\n".join(each.stdout for each in ended) == snapshot


def test_prove_as_json(run: Any) -> None:
    ended = run("prove", "desk", "hostile", "--json")
    data = json.loads(ended.stdout)["data"]
    assert ended.exit_code == 1
    assert [(each["environment"], each["tasks"], each["proved"]) for each in data["environments"]] == [
        ("desk", 3, False),
        ("hostile", 1, True),
    ]
    assert [found["slug"] for found in data["environments"][0]["findings"]] == [
        "oracle-falls-short",
        "no-solution",
    ]
    assert data["proved"] is False


PROOFS = ROOT / "tests" / "cases" / "proofs"


def test_prove_as_json_has_what_came_of_the_panel_at_every_task(
    run: Any, snapshot: SnapshotAssertion
) -> None:
    ended = run("prove", "false-pass/bad_outvoted", "--json", at=PROOFS)
    [environment] = json.loads(ended.stdout)["data"]["environments"]
    assert (ended.exit_code, environment["proved"], environment["wrong_runs"]) == (1, False, 18)
    assert [each["task"] for each in environment["panel"]] == ["alice", "bob"]
    assert environment["panel"][0]["members"] == snapshot
    assert [found["code"] for found in environment["findings"]] == ["RL607"]


def test_a_warning_of_the_panel_counts_only_under_strict(run: Any, snapshot: SnapshotAssertion) -> None:
    ended = run("prove", "loose-verifier/bad_city", at=PROOFS)
    assert ended.exit_code == 0
    assert ended.stdout == snapshot
    assert run("prove", "loose-verifier/bad_city", "--strict", at=PROOFS).exit_code == 1
    assert run("prove", "loose-verifier/good_city", "--strict", at=PROOFS).exit_code == 0
    as_json = json.loads(run("prove", "loose-verifier/bad_city", "--strict", "--json", at=PROOFS).stdout)[
        "data"
    ]
    assert as_json["proved"] is True
    assert [found["slug"] for found in as_json["environments"][0]["findings"]] == ["loose-verifier"]


def test_a_warning_of_validate_is_told_by_prove_and_counts_only_under_strict(run: Any) -> None:
    path = ROOT / "tests" / "cases" / "rules" / "uncounted-primitive"
    ended = run("prove", "bad", at=path)
    assert ended.exit_code == 0
    assert "1 task proved; solutions reach the top score, none of 8 wrong runs passes" in ended.stdout
    assert "uncounted-primitive]" in ended.stdout
    strict = run("prove", "bad", "--strict", at=path)
    assert (strict.exit_code, strict.stdout) == (1, ended.stdout)


TESTED = """
template: code-editing
config:
  files: {cents.py: "def cents(): return 12\\n"}
  hidden: {test_cents.py: "HIDDEN"}
  commands: {test: {command: python -m unittest test_cents, timeout: 60}}
verifier: {primitives: [{name: tests, type: command_passes, command: test}]}
tasks: [{instruction: Return 13., hidden_ground_truth: {files: {}}}]
"""
HIDDEN = r"""
import unittest
from cents import cents

class Cents(unittest.TestCase):
    def test_cents(self):
        for number in range(40): print(f'line {number}', flush=True)
        print('\x1b[2J', flush=True)
        self.assertEqual(cents(), 13)
"""


def test_the_end_of_what_a_failed_command_printed_is_shown_and_no_more(run: Any, tmp_path: Path) -> None:
    hidden = HIDDEN.replace("\\", "\\\\").replace("\n", "\\n")
    (tmp_path / "cents.yaml").write_text(TESTED.replace("HIDDEN", hidden), encoding="utf-8")
    shown = run("test", "cents.yaml", "-m", "noop", at=tmp_path).stdout
    _, _, printed = shown.partition("Failed: “test_cents.Cents.test_cents”.\n")
    first, *lines = printed.partition("\n\n")[0].splitlines()
    assert first.startswith("        … ") and first.endswith(" lines before")
    assert "        AssertionError: 12 != 13" in lines
    assert len(lines) == 15
    assert "\x1b" not in shown


def test_prove_shows_the_same_at_any_concurrency(run: Any) -> None:
    shown = {run("prove", "false-pass", "--concurrency", many, at=PROOFS).stdout for many in ("1", "3", "16")}
    assert len(shown) == 1
    assert run("prove", "false-pass", "--concurrency", "0", at=PROOFS).exit_code == 2


def test_prove_goes_on_after_an_environment_with_errors(run: Any) -> None:
    ended = run("prove", "bad_environment", "hostile")
    assert ended.exit_code == 1
    assert ended.stdout.splitlines()[:2] == [
        "✗ bad_environment: not proved, since it has errors",
        "✓ hostile: 1 task proved; solutions reach the top score, none of 8 wrong runs passes",
    ]


def test_the_refund_example_is_run_and_proved(run: Any, snapshot: SnapshotAssertion) -> None:
    ended = run("test", "environments/refund", "--model", "oracle", "--limit", "1", at=ROOT)
    assert ended.exit_code == 0
    assert ended.stdout == snapshot
    assert run("prove", "environments/refund", at=ROOT).exit_code == 0
