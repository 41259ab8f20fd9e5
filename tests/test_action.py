"""The GitHub Action's steps do their work in a real repository, and nothing in its inputs becomes a command."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: dict[str, Any] = {step["name"]: step for step in ACTION["runs"]["steps"]}
ROLLOUT = Path(sys.executable).with_name("rollout")


def git(*arguments: str, cwd: Path) -> str:
    identity = {
        f"GIT_{role}_{what}": value
        for role in ("AUTHOR", "COMMITTER")
        for what, value in (("NAME", "Ada"), ("EMAIL", "ada@example.org"))
    }
    ended = subprocess.run(
        ["git", *arguments],
        cwd=cwd,
        env={**os.environ, **identity},
        capture_output=True,
        text=True,
        check=True,
    )
    return ended.stdout.strip()


def run_step(name: str, cwd: Path, **inputs: str) -> subprocess.CompletedProcess[str]:
    """Runs a step's script as the runner does: bash -eo pipefail, its ``env`` filled in from ``inputs``."""
    given = {key: entry.get("default", "") for key, entry in ACTION["inputs"].items()} | inputs
    environment = {}
    for variable, expression in STEPS[name]["env"].items():
        if found := re.fullmatch(r"\$\{\{ inputs\.(\w+) \}\}", expression):
            environment[variable] = given[found[1]]
        else:
            environment[variable] = {"${{ steps.install.outputs.command }}": str(ROLLOUT)}[expression]
    environment["GITHUB_STEP_SUMMARY"] = str(cwd / "summary.md")
    script = cwd.parent / "step.sh"
    script.write_text(STEPS[name]["run"], encoding="utf-8")
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
        cwd=cwd,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repository"
    environment = folder / "environments" / "greeter"
    environment.mkdir(parents=True)
    (environment / "environment.yaml").write_text("name: Greeter\ntemplate: workflow\n", encoding="utf-8")
    (environment / "config.yaml").write_text(
        "tools:\n"
        "  - name: greet\n    kind: action\n    stateArray: greetings\n    paramsSchema: {who: string}\n"
        "initialMutableState: {greetings: []}\n",
        encoding="utf-8",
    )
    (environment / "tasks.jsonl").write_text(
        '{"id": "ada", "instruction": "Greet Ada.", "hidden_ground_truth": {"greetings": [{"who": "Ada"}]}}\n',
        encoding="utf-8",
    )
    git("init", "--quiet", "--initial-branch=main", cwd=folder)
    git("add", ".", cwd=folder)
    git("commit", "--quiet", "--message=Greet", cwd=folder)
    return folder


def test_no_script_holds_an_expression() -> None:
    assert all("${{" not in step["run"] for step in STEPS.values())
    assert all(step["shell"] == "bash" for step in STEPS.values())


def test_a_sound_repository_passes(repository: Path) -> None:
    ended = run_step("Validate", repository)
    assert (ended.returncode, ended.stdout, ended.stderr) == (0, "", "")


def test_a_defect_is_an_annotation_and_fails(repository: Path) -> None:
    tasks = repository / "environments" / "greeter" / "tasks.jsonl"
    tasks.write_text(
        tasks.read_text("utf-8") + '{"instruction": "Greet.", "splitt": "dev"}\n', encoding="utf-8"
    )
    ended = run_step("Validate", repository)
    assert ended.returncode == 1
    assert "::error file=environments/greeter/tasks.jsonl,line=2,col=27," in ended.stdout


def test_the_summary_tells_what_a_change_means(repository: Path) -> None:
    base = git("rev-parse", "HEAD", cwd=repository)
    tasks = repository / "environments" / "greeter" / "tasks.jsonl"
    tasks.write_text(tasks.read_text("utf-8").replace("Greet Ada.", "Greet Ada, please."), encoding="utf-8")
    ended = run_step("Tell what the change means", repository, base=base)
    assert (ended.returncode, ended.stderr) == (0, "")
    summary = (repository / "summary.md").read_text(encoding="utf-8")
    assert "greeter" in summary
    assert "ada" in summary


def test_a_base_that_is_not_there_is_fetched(repository: Path, tmp_path: Path) -> None:
    base = git("rev-parse", "HEAD", cwd=repository)
    tasks = repository / "environments" / "greeter" / "tasks.jsonl"
    tasks.write_text(tasks.read_text("utf-8").replace("Greet Ada.", "Greet Ada, please."), encoding="utf-8")
    git("commit", "--quiet", "--all", "--message=Please", cwd=repository)
    git("config", "uploadpack.allowAnySHA1InWant", "true", cwd=repository)
    git("clone", "--quiet", "--depth=1", repository.as_uri(), "shallow", cwd=tmp_path)
    ended = run_step("Tell what the change means", tmp_path / "shallow", base=base)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert "greeter" in (tmp_path / "shallow" / "summary.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["Validate", "Tell what the change means"])
def test_inputs_stay_words(name: str, repository: Path) -> None:
    hostile = "environments; touch pwned\n$(touch pwned)\n`touch pwned`\n--help\n"
    ended = run_step(name, repository, paths=hostile, base="$(touch pwned)")
    assert ended.returncode != 0
    assert not (repository / "pwned").exists()
    run_step(name, repository, base="--upload-pack=touch pwned;")
    assert not (repository / "pwned").exists()
