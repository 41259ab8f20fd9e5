"""`rollout compare` on runs as they really are: what it refuses, what it writes, and its exit codes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from rollout.cli import app

ROOT = Path(__file__).parents[3]
CASE = ROOT / "tests" / "cases" / "compare" / "worse-in-one-split"
DESK = ROOT / "environments" / "support-desk"

Invoke = Callable[..., Result]


@pytest.fixture
def run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Invoke:
    monkeypatch.chdir(tmp_path)
    for side in ("baseline", "trained"):
        shutil.copytree(CASE / side, tmp_path / side)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments))

    return invoke


def change_lines(change: Callable[[Any], None]) -> None:
    path = Path("trained/rollouts.jsonl")
    lines = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for line in lines:
        change(line)
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def change_config(**changed: Any) -> None:
    path = Path("trained/run.json")
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), **changed}), encoding="utf-8")


def test_runs_that_were_just_made_are_compared(run: Invoke) -> None:
    for model in ("noop", "oracle"):
        run("test", str(DESK), "-m", model, "--all", "--out", model)
    better = run("compare", "noop", "oracle", "--fail-on-regression", "--margin", "0.01")
    assert (better.exit_code, better.stderr) == (0, "")
    assert "Better: over 25 tasks the pass rate is 100 points higher" in better.stdout
    worse = run("compare", "oracle/rollouts.jsonl", "noop", "--fail-on-regression")
    assert worse.exit_code == 1
    assert worse.stderr.startswith("regression: The pass rate is lower.\n")
    assert run("compare", "oracle", "noop").exit_code == 0


def test_json_has_all_of_it_in_one_envelope(run: Invoke) -> None:
    told = json.loads(run("compare", "baseline", "trained", "--json").stdout)
    assert (told["schema_version"], told["command"]) == (1, "compare")
    data = told["data"]
    assert data["verdict"] == "undecided"
    assert data["regressions"] == [
        "The pass rate is lower in the split “test” (p = 0.00049, Holm).",
    ]
    assert len(data["pairs"]) == 40
    assert data["pairs"][0]["difference"] == -0.75
    assert data["pass_rate"]["difference"]["value"] == pytest.approx(9 / 160)
    assert [each["verdict"] for each in data["slices"]] == ["worse", "better"]
    assert data["trained"]["graded"] == 160
    assert data["margin"] is None
    asked = json.loads(run("compare", "baseline", "trained", "--json", "--margin", "0.3").stdout)["data"]
    assert asked["margin"]["is_shown"] is True


def test_a_page_is_written_beside_what_is_shown(run: Invoke) -> None:
    plain = run("compare", "baseline", "trained")
    paged = run("compare", "baseline", "trained", "--html", "pages/changes.html")
    assert (paged.stdout, paged.stderr) == (plain.stdout, "report: pages/changes.html\n")
    assert "Worse in the split “test”" in Path("pages/changes.html").read_text(encoding="utf-8")


def test_a_page_takes_the_place_of_neither_run_nor_of_anything_else(run: Invoke) -> None:
    Path("notes.txt").write_text("Buy milk.")
    for name in ("trained/rollouts.jsonl", "baseline/run.json", "notes.txt"):
        before = Path(name).read_bytes()
        refused = run("compare", "baseline", "trained", "--html", name)
        assert (refused.exit_code, refused.stdout) == (2, "")
        assert Path(name).read_bytes() == before


@pytest.mark.parametrize("margin", ["0", "-0.1", "2", "nan", "inf"])
def test_a_margin_that_is_none_is_refused(run: Invoke, margin: str) -> None:
    refused = run("compare", "baseline", "trained", "--margin", margin)
    assert refused.exit_code == 2
    assert "error: --margin is a rate between 0 and 1" in refused.stderr


def test_two_formats_are_refused(run: Invoke) -> None:
    refused = run("compare", "baseline", "trained", "--json", "--format", "markdown")
    assert refused.exit_code == 2
    assert json.loads(refused.stdout)["error"]["message"] == "A comparison is shown in one format."


def test_what_is_no_run_is_a_sentence(run: Invoke) -> None:
    Path("empty").mkdir()
    refused = run("compare", "baseline", "empty")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "error: There are no rollouts in “empty”.\n" in refused.stderr


def test_what_is_neither_a_folder_nor_an_id_is_told_where_ids_are(run: Invoke) -> None:
    refused = run("compare", "baseline", "nowhere")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "error: “nowhere” is neither a run's folder nor the start of a run's id.\n" in refused.stderr
    assert "“rollout runs” lists those of the platform." in refused.stderr


def test_rollouts_without_their_run_are_refused_since_nobody_knows_what_they_are_of(run: Invoke) -> None:
    Path("trained/run.json").unlink()
    refused = run("compare", "baseline", "trained")
    assert refused.exit_code == 2
    assert (
        "“trained” does not say which environment it is of: there is no run.json beside it." in refused.stderr
    )


@pytest.mark.parametrize(
    "changed",
    [
        {"digest": None},
        {"inputs": None},
        {"inputs": {"model": 1}},
        {"inputs": {"model": "a", "sampling": {"t": []}}},
    ],
)
def test_a_run_that_was_tampered_with_is_a_sentence(run: Invoke, changed: dict[str, Any]) -> None:
    change_config(**changed)
    refused = run("compare", "baseline", "trained")
    assert refused.exit_code == 2
    assert "is not as it was written, so it is not known what the run is of." in refused.stderr


def test_rollouts_that_do_not_say_what_they_were_asked_are_refused(run: Invoke) -> None:
    change_lines(lambda line: line.pop("task"))
    refused = run("compare", "baseline", "trained")
    assert refused.exit_code == 2
    assert "error: The rollouts in “trained” do not say what they were asked" in refused.stderr


@pytest.mark.parametrize(
    ("where", "value"),
    [
        ("verdict", {"outcome": "passed", "score": None}),
        ("verdict", {"outcome": "passed", "score": 7}),
        ("verdict", {"outcome": "passed", "score": True}),
        ("verdict", {"outcome": "passed"}),
        ("verdict", {"outcome": "won", "score": 1}),
        ("verdict", {"outcome": "error", "score": None, "failure": {"charged_to": 3}}),
        ("task", {"content": 3, "split": "dev"}),
        ("task", "x"),
    ],
)
def test_a_rollout_that_cannot_be_read_is_named_and_never_counted(
    run: Invoke, where: str, value: Any
) -> None:
    change_lines(lambda line: line.update({where: value}) if line["trace"]["task"] == "order-7" else None)
    refused = run("compare", "baseline", "trained")
    assert (refused.exit_code, refused.stdout) == (2, "")
    assert "error: A rollout of task “order-7” in “trained” cannot be read.\n" in refused.stderr


def test_runs_of_two_environments_are_refused_by_their_names(run: Invoke) -> None:
    change_config(environment="another", digest="sha256:another")
    refused = run("compare", "baseline", "trained")
    assert refused.exit_code == 2
    assert "The runs are of different environments: “desk” and “another”." in refused.stderr
    assert run("compare", "baseline", "trained", "--across-versions").exit_code == 0


def test_a_run_without_a_summary_is_not_whole(run: Invoke) -> None:
    Path("trained/summary.json").unlink()
    ended = run("compare", "baseline", "trained", "--fail-on-regression")
    assert ended.exit_code == 1
    assert "regression: The trained run is not whole. It is under way, or was broken off.\n" in ended.stderr


@pytest.mark.parametrize(("trained", "code"), [("baseline", 0), ("trained", 1)])
@pytest.mark.parametrize("form", [(), ("--json",), ("--format", "markdown")], ids=" ".join)
def test_the_exit_code_says_the_same_where_nobody_reads_what_is_shown(
    run: Invoke, trained: str, code: int, form: tuple[str, ...]
) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    arguments = ["compare", "baseline", trained, "--fail-on-regression", *form]
    with os.fdopen(writer, "wb") as gone:
        ended = subprocess.run(
            [sys.executable, "-m", "rollout", *arguments], stdout=gone, stderr=subprocess.PIPE, text=True
        )
    assert ended.returncode == code, ended.stderr
    assert "Traceback" not in ended.stderr
