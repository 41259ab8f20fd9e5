"""`rollout test` and `compile` take a folder of environments, globs and several paths, as `validate` does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from rollout.cli import app

ENVIRONMENTS = Path(__file__).parents[3] / "environments"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for slug in ("meeting-rooms", "refund"):
        shutil.copytree(ENVIRONMENTS / slug, tmp_path / "envs" / slug)
    return tmp_path


def rollout(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, prog_name="rollout")


def break_one(here: Path) -> None:
    (here / "envs/refund/verifier.yaml").write_text("primitives: [", encoding="utf-8")


def diagnostics(path: str) -> Any:
    """What `validate` finds."""
    found = json.loads(rollout("validate", path, "--json").stdout)["data"]["diagnostics"]
    assert found
    return found


@pytest.mark.parametrize("paths", [("envs",), ("envs/*",), ("envs/meeting-rooms", "envs/refund")])
def test_each_is_run_in_turn_with_a_line_and_one_for_all(here: Path, paths: tuple[str, ...]) -> None:
    ended = rollout("test", *paths, "-m", "oracle", "--limit", "2")
    assert ended.exit_code == 0
    two = "2 passed, 0 failed, 0 errors (passed 2 of 2 graded, 2 of 2 in all)"
    assert ended.stdout.splitlines() == [
        f"envs/meeting-rooms: {two}; 13 more of its tasks were not run.",
        f"envs/refund: {two}; 34 more of its tasks were not run.",
        "",
        "2 environments: 4 passed, 0 failed, 0 errors (passed 4 of 4 graded, 4 of 4 in all).",
    ]


def test_one_of_a_folder_is_shown_as_one(here: Path) -> None:
    one = rollout("test", "envs", "--slug", "refund", "-m", "oracle")
    assert one.stdout == rollout("test", "envs/refund", "-m", "oracle").stdout
    assert "→ get_order" in one.stdout


def test_what_did_not_pass_is_named_and_the_worst_code_is_given(here: Path) -> None:
    ended = rollout("test", "envs", "-m", "noop", "--all")
    assert ended.exit_code == 1
    assert "\n  failed boots-last-day: “refunds” has 0 items" in ended.stdout
    assert "\n  … 33 more did not pass.\n" in ended.stdout


def test_one_that_cannot_be_run_does_not_keep_the_rest_from_it(here: Path) -> None:
    break_one(here)
    ended = rollout("test", "envs", "-m", "oracle")
    assert ended.exit_code == 2
    assert "envs/refund: not run\n" in ended.stdout and "verifier.yaml" in ended.stderr
    assert "2 environments: 3 passed" in ended.stdout and "1 of them not run" in ended.stdout


def test_in_json_each_is_an_entry(here: Path) -> None:
    break_one(here)
    data = json.loads(rollout("test", "envs", "-m", "oracle", "--json").stdout)["data"]
    (entry,) = data["environments"]
    assert (entry["environment"], entry["path"], len(entry["rollouts"])) == (
        "meeting-rooms",
        "envs/meeting-rooms",
        3,
    )
    (missed,) = data["not_run"]
    assert (missed["environment"], missed["path"]) == ("refund", "envs/refund")
    assert missed["error"]["diagnostics"] == diagnostics("envs/refund")
    assert (data["passed"], data["graded"], data["all"], data["planned"]) == (3, 3, 3, 3)


def test_in_junit_each_is_a_suite(here: Path) -> None:
    break_one(here)
    root = ElementTree.fromstring(rollout("test", "envs", "-m", "oracle", "--format", "junit").stdout)
    assert [suite.get("name") for suite in root] == ["meeting-rooms", "refund"]
    assert (root.get("tests"), root.get("errors")) == ("4", "1")


def test_events_come_in_turn(here: Path) -> None:
    lines = rollout("test", "envs", "-m", "oracle", "--limit", "1", "--events", "--out", "runs").stdout
    events: list[Any] = [json.loads(line) for line in lines.splitlines()]
    assert [event["event"] for event in events] == [*("begin", "rollout", "end") * 2, "total"]
    assert [event["run"] for event in events if event["event"] == "begin"] == [
        "runs/meeting-rooms",
        "runs/refund",
    ]
    assert events[-1]["passed"] == 2


def test_each_is_kept_in_a_folder_by_its_slug_and_all_are_gone_on_with(here: Path) -> None:
    began = rollout("test", "envs", "-m", "oracle", "--limit", "2", "--out", "runs")
    assert began.exit_code == 0
    assert sorted(path.name for path in (here / "runs").iterdir()) == ["meeting-rooms", "refund"]
    again = rollout("test", "envs", "-m", "oracle", "--out", "runs")
    assert again.exit_code == 2 and "--resume runs" in again.stderr
    lines = here / "runs/refund/rollouts.jsonl"
    lines.write_text(lines.read_text(encoding="utf-8").splitlines(keepends=True)[0], encoding="utf-8")
    resumed = rollout("test", "--resume", "runs")
    assert resumed.exit_code == 0
    assert resumed.stdout.endswith("4 of 4 in all).\n") and len(lines.read_text().splitlines()) == 2


def test_a_limit_is_for_all_of_them_and_what_is_left_can_be_gone_on_with(here: Path) -> None:
    ended = rollout("test", "envs", "-m", "oracle", "--max-tokens", "0", "--out", "runs")
    assert ended.exit_code == 1
    assert "stopped: The limit of 0 tokens is reached" in ended.stderr
    assert "0 of 6 rollouts are done. Go on with: rollout test --resume runs" in ended.stderr
    assert "envs/refund: not run" in ended.stdout
    assert rollout("test", "--resume", "runs").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("envs", "--task", "1"), "A task is of one environment"),
        (("envs", "--report", "page.html"), "A report is of one run"),
        (("envs", "envs-2", "--out", "runs"), "Two of the environments have the slug"),
        (("envs", "envs-2", "--resume", "runs"), "knows its environment"),
        (("envs", "--all", "--limit", "2"), "--all runs all tasks and --limit only some."),
        (("envs/refund", "--task", "1", "--all"), "--all has nothing to choose"),
        (("envs/refund", "--task", "1", "--split", "dev"), "--split has nothing to choose"),
        (("envs/refund", "--json", "--format", "junit"), "as --json or as --format junit"),
        (("envs/refund", "--temperature", "3"), "--temperature is from 0 to 2, not 3."),
        (("envs/refund", "--temperature", "warm"), "--temperature none"),
    ],
)
def test_what_makes_no_sense_is_refused_with_a_way_out(
    here: Path, arguments: tuple[str, ...], words: str
) -> None:
    shutil.copytree(here / "envs", here / "envs-2")
    ended = rollout("test", *arguments, "-m", "noop")
    assert ended.exit_code == 2
    assert words in ended.stderr and "  help: " in ended.stderr
    assert not (here / "runs").exists()


@pytest.mark.parametrize(("given", "sent"), [("none", None), ("1", 1.0)])
def test_a_temperature_that_is_not_sent_is_recorded_as_not_sent(here: Path, given: str, sent: Any) -> None:
    ended = rollout("test", "envs/refund", "-m", "noop", "--temperature", given, "--out", "run")
    assert ended.exit_code == 1
    config = json.loads((here / "run/run.json").read_text(encoding="utf-8"))
    assert config["inputs"]["sampling"]["temperature"] == sent
    assert rollout("test", "--resume", "run").exit_code == 1
    other = rollout("test", "--resume", "run", "--temperature", "0.5")
    assert other.exit_code == 2 and "temperature was" in other.stderr


@pytest.mark.parametrize("command", [("compile",), ("test", "-m", "noop")])
def test_a_file_that_holds_several_is_told_which(here: Path, command: tuple[str, ...]) -> None:
    (here / "desks.py").write_text(
        "from rollout import Environment\n\n"
        "a, b = (Environment(slug=s, name=s, template='workflow', config={'tools': []}) for s in 'ab')\n",
        encoding="utf-8",
    )
    refused = rollout(*command, "desks.py")
    assert refused.exit_code == 2 and "There are 2 environments at “desks.py”: a, b." in refused.stderr


def test_compile_writes_a_file_by_the_slug_of_each(here: Path) -> None:
    ended = rollout("compile", "envs", "-o", "out")
    assert ended.exit_code == 0 and len(ended.stderr.splitlines()) == 2
    for slug in ("meeting-rooms", "refund"):
        assert (here / "out" / f"{slug}.json").read_bytes() == rollout("compile", f"envs/{slug}").stdout_bytes


def test_compile_prints_a_digest_and_a_path_of_each(here: Path) -> None:
    digest = rollout("compile", "envs/refund", "--digest").stdout.strip()
    lines = rollout("compile", "envs/*", "--digest").stdout.splitlines()
    assert lines[1] == f"{digest}  envs/refund" and len(lines) == 2
    data = json.loads(rollout("compile", "envs", "--json").stdout)["data"]
    assert [each["path"] for each in data["environments"]] == ["envs/meeting-rooms", "envs/refund"]


def test_compile_does_what_it_can_and_says_what_it_cannot(here: Path) -> None:
    shutil.copytree(here / "envs", here / "envs-2")
    for arguments, words in (
        (("envs",), "Name a folder with -o DIR"),
        (("envs", "-o", "-"), "not one JSON"),
        (("envs", "envs-2", "-o", "out"), "both would be"),
    ):
        refused = rollout("compile", *arguments)
        assert refused.exit_code == 2 and words in refused.stderr and not refused.stdout
    break_one(here)
    ended = rollout("compile", "envs", "-o", "out")
    assert ended.exit_code == 2 and "verifier.yaml" in ended.stderr
    assert [path.name for path in (here / "out").iterdir()] == ["meeting-rooms.json"]


def test_compile_says_in_json_what_it_cannot(here: Path) -> None:
    break_one(here)
    ended = rollout("compile", "envs", "--json")
    data = json.loads(ended.stdout)["data"]
    assert (ended.exit_code, [each["slug"] for each in data["environments"]]) == (2, ["meeting-rooms"])
    (missed,) = data["not_compiled"]
    assert (missed["environment"], missed["path"]) == ("refund", "envs/refund")
    assert missed["error"]["diagnostics"] == diagnostics("envs/refund")


def test_in_json_a_run_that_cannot_begin_is_told_with_its_reason(here: Path) -> None:
    rollout("test", "envs", "-m", "oracle", "--out", "runs")
    (here / "runs/refund/run.json").write_text("{", encoding="utf-8")
    data = json.loads(rollout("test", "--resume", "runs", "--json").stdout)["data"]
    (missed,) = data["not_run"]
    assert missed["environment"] == "refund" and "run.json" in missed["error"]["message"]
