"""No command writes a file where an environment is read from, of whichever environment."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from rollout.cli import app

ROOT = Path(__file__).parents[3]
ENVIRONMENTS = ROOT / "environments"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    shutil.copytree(ENVIRONMENTS / "refund", "refund")
    shutil.copy(ROOT / "tests" / "cases" / "models" / "desk" / "environment.yaml", "desk.yaml")
    return tmp_path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, list(arguments), prog_name="rollout")


def contents(folder: Path) -> dict[Path, bytes]:
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("arguments", "of"),
    [
        (("refund", "-o", "bugfix/environment.yaml"), "the environment “bugfix”"),
        (("refund", "-o", "bugfix/files/new/refund.json"), "the environment “bugfix”"),
        (("refund", "-o", "desk.yaml"), "the environment “desk.yaml”"),
        (("refund", "bugfix", "-o", "refund/fixtures"), "one of the environments"),
        (("refund", "bugfix", "-o", "refund/fixtures/new"), "one of the environments"),
        (("refund", "bugfix", "-o", "link"), "one of the environments"),
        (("refund", "desk.yaml", "-o", "bugfix"), "the environment “bugfix”"),
    ],
    ids=" ".join,
)
def test_nothing_is_compiled_into_the_folder_of_another_environment(
    here: Path, arguments: tuple[str, ...], of: str
) -> None:
    shutil.copytree(ENVIRONMENTS / "python-bugfix", "bugfix")
    Path("link").symlink_to("refund/fixtures")
    before = contents(here)
    done = run("compile", *arguments)
    assert done.exit_code == 2
    assert f"is a file of {of}, or would be taken for one." in done.stderr
    assert contents(here) == before


def test_a_file_of_conda_makes_no_environment_of_a_folder(here: Path) -> None:
    Path("environment.yml").write_text("name: work\nchannels: [defaults]\ndependencies: [python]\n")
    done = run("compile", "refund", "-o", "refund.json")
    assert done.exit_code == 0
    assert run("compile", "refund", "-o", "refund.json").exit_code == 0


@pytest.mark.parametrize(
    "arguments",
    [
        ("traces", "runs", "-o", "refund/tasks.jsonl"),
        ("traces", "runs", "-o", "desk.yaml"),
        ("traces", "runs", "-o", "refund/grade.py"),
        ("traces", "runs", "--format", "html", "-o", "refund/fixtures/report.html"),
        ("regrade", "runs", "--with", "refund", "-o", "refund/fixtures/again.jsonl"),
        ("test", "refund", "-m", "oracle", "--out", "refund/fixtures/run"),
        ("test", "refund", "-m", "oracle", "--report", "refund/fixtures/report.html"),
        ("compare", "runs", "runs", "--html", "refund/fixtures/report.html"),
        ("unpack", "refund.json", "-o", "refund/fixtures", "--force"),
        ("pull", "refund", "-o", "refund/fixtures/new"),
        ("new", "workflow", "refund/fixtures/new"),
        ("generate", "A desk", "-t", "workflow", "-m", "x/y", "-o", "refund/fixtures/new"),
    ],
    ids=" ".join,
)
def test_no_command_writes_where_an_environment_is_read_from(here: Path, arguments: tuple[str, ...]) -> None:
    assert run("test", "refund", "-m", "oracle", "--out", "runs").exit_code == 0
    assert run("compile", "refund", "-o", "refund.json").exit_code == 0
    before = contents(here)
    done = run(*arguments)
    assert done.exit_code == 2
    assert "Name a place that it is not read from." in done.stderr
    assert contents(here) == before


def test_a_run_is_kept_and_exported_beside_what_an_environment_is_read_from(here: Path) -> None:
    assert run("test", "refund", "-m", "oracle", "--out", "refund/runs/first").exit_code == 0
    for _ in range(2):
        assert run("traces", "refund/runs/first", "-o", "refund/runs/first.jsonl").exit_code == 0
    assert run("validate", "refund").exit_code == 0
