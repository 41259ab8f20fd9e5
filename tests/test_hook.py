"""The pre-commit hook is given the names of changed files, and checks the environments that they belong to."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parent.parent
[HOOK] = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8"))


GUIDE = ROOT / "docs" / "guides" / "checking-in-ci.md"


def configured() -> list[dict[str, Any]]:
    """The hooks as the guide configures them, each with what it leaves to the repository's own description."""
    told = re.findall(r"(?ms)^ {6}- id: rollout-validate\n.*?(?=^```)", GUIDE.read_text(encoding="utf-8"))
    return [{**HOOK, **yaml.safe_load(each)[0]} for each in told]


def run_hook(
    repository: Path, hook: dict[str, Any] = HOOK, *, changed: list[str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Runs the hook as pre-commit does: from the root, its entry, its args, then names of files.

    The names are those of all files that the pattern finds, or of the ``changed`` ones among them; a hook without any
    is not run, unless it always is.
    """
    names = sorted(
        path.relative_to(repository).as_posix() for path in repository.rglob("*") if path.is_file()
    )
    given = [
        name for name in names if re.search(hook["files"], name) and (changed is None or name in changed)
    ]
    assert given or hook.get("always_run"), "pre-commit skips a hook without files"
    return subprocess.run(
        [*shlex.split(hook["entry"]), *hook["args"], *(given if hook.get("pass_filenames", True) else ())],
        cwd=repository,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
            "NO_COLOR": "1",
        },
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "environments" / "refund", tmp_path / "environments" / "refund")
    (tmp_path / "config.yaml").write_text("not: ours\n", encoding="utf-8")
    (tmp_path / "environments" / "README.md").write_text("# Our environments\n", encoding="utf-8")
    return tmp_path


def test_the_hook_is_one_that_pre_commit_installs() -> None:
    assert (HOOK["id"], HOOK["language"], HOOK["require_serial"]) == ("rollout-validate", "python", True)
    assert (HOOK["entry"], HOOK["args"]) == ("rollout validate --changed", ["--"])


def test_every_configuration_of_the_guide_checks_a_sound_environment(repository: Path) -> None:
    hooks = configured()
    assert len(hooks) == 4
    for hook in hooks:
        files = {"files": HOOK["files"]}  # one of them is about environments in another folder
        ended = run_hook(repository, {**hook, **files})
        assert (ended.returncode, ended.stdout) == (0, "1 environment checked, nothing to report.\n")


def test_a_warning_fails_the_commit_where_the_hook_is_given_strict(repository: Path) -> None:
    [strict] = [hook for hook in configured() if "--strict" in hook["args"]]
    (repository / "environments" / "refund" / "verifer.yaml").write_text("{}\n", encoding="utf-8")
    assert run_hook(repository).returncode == 0
    ended = run_hook(repository, strict)
    assert ended.returncode == 1
    assert "[RL136 unread-file]" in ended.stdout


def test_a_file_that_is_only_deleted_is_missed_where_the_hook_always_runs(repository: Path) -> None:
    [always] = [hook for hook in configured() if hook.get("always_run")]
    (repository / "environments" / "refund" / "fixtures" / "orders.jsonl").unlink()
    ended = run_hook(repository, always, changed=[])
    assert ended.returncode == 1
    assert "there is no such fixture" in ended.stdout


def test_all_files_of_an_environment_are_one_environment(repository: Path) -> None:
    ended = run_hook(repository)
    assert (ended.returncode, ended.stdout) == (0, "1 environment checked, nothing to report.\n")


def test_a_defect_in_a_fixture_fails_the_commit_at_its_place(repository: Path) -> None:
    fixture = repository / "environments" / "refund" / "fixtures" / "customers.yaml"
    fixture.write_text(fixture.read_text(encoding="utf-8") + "\n- {id: 1, id: 2}\n", encoding="utf-8")
    ended = run_hook(repository)
    assert ended.returncode != 0
    assert ended.stdout.startswith("environments/refund/fixtures/customers.yaml:")


@pytest.mark.parametrize(
    ("name", "ours"),
    [
        ("environments/refund/environment.yaml", True),
        ("envs/refund/tasks.jsonl", True),
        ("team/envs/a/b/verifier.toml", True),
        ("environments/shop/fixtures/orders.csv", True),
        ("environments/fix/files/src/deep/module.py", True),
        ("environments/shop/tasks/train.jsonl", True),
        ("environments/shop/schema.sql", True),
        ("environments/fix/hidden/test_it.py", True),
        ("environments/refund.py", True),
        ("environments/prices.yaml", True),
        ("team/envs/prices.toml", True),
        ("environments/grade.py", True),
        ("environments/shop/lib/grade.py", True),
        ("environments/shop/verifer.yaml", True),
        ("environments/a/b/verifer.toml", True),
        ("src/refund.py", False),
        ("environments/README.md", False),
        ("environments/shop/README.md", False),
        ("environment.yml", False),
        ("config.yaml", False),
        (".github/config.yml", False),
        ("src/environments.py", False),
    ],
)
def test_the_pattern_knows_the_files_of_an_environment(name: str, ours: bool) -> None:
    assert bool(re.search(HOOK["files"], name)) is ours


ONE_FILE = """\
slug: prices
template: workflow
config:
  tools: [{name: ask, kind: mock, response: 1, description: Ask.}]
tasks: [{instruction: Ask., hidden_ground_truth: {x: 1}}]
verifier:
  primitives: [{name: right, type: python, function: "grade.py:grade"}]
"""


@pytest.mark.parametrize(
    ("changed", "checked"),
    [
        ("environments/prices.yaml", 1),
        ("environments/grade.py", 1),
        ("environments/lib/amounts.py", 1),
        ("environments/refund/verifer.yaml", 1),
        ("environments/refund/lib/grade.py", 1),
        ("environments/refund/notes.json", 1),
        ("elsewhere/envs/labels.yaml", 0),
        ("elsewhere/envs/shared.py", 0),
    ],
)
def test_a_changed_file_has_its_environment_checked_and_others_are_passed_by(
    repository: Path, changed: str, checked: int
) -> None:
    files = {
        "environments/prices.yaml": ONE_FILE,
        "environments/grade.py": "import amounts\n\n\ndef grade(case):\n    return True\n",
        "environments/lib/amounts.py": "raise SystemExit('this is never run')\n",
        "environments/refund/verifer.yaml": "{}\n",
        "environments/refund/lib/grade.py": "",
        "environments/refund/notes.json": "{}\n",
        "elsewhere/envs/labels.yaml": "a: 1\n",
        "elsewhere/envs/shared.py": "raise SystemExit('nor is this')\n",
    }
    for name, text in files.items():
        (repository / name).parent.mkdir(parents=True, exist_ok=True)
        (repository / name).write_text(text, encoding="utf-8")
    ended = run_hook(repository, changed=[changed])
    assert ended.returncode == 0
    assert ended.stdout.endswith(
        "1 environment checked.\n"
        if "refund" in changed
        else "1 environment checked, nothing to report.\n"
        if checked
        else "Nothing to report.\n"
    )
    if "verifer" in changed:
        assert "[RL136 unread-file]" in ended.stdout
    (repository / "environments/grade.py").write_text("def mark(case):\n    return True\n", encoding="utf-8")
    assert run_hook(repository, changed=[changed]).returncode == ("refund" not in changed and checked)


def test_a_file_that_is_gone_has_what_is_left_of_its_environment_checked(repository: Path) -> None:
    gone = repository / "environments" / "refund" / "fixtures" / "orders.jsonl"
    gone.unlink()
    ended = subprocess.run(
        [
            Path(sys.executable).parent / "rollout",
            "validate",
            "--changed",
            "--",
            "environments/refund/fixtures/orders.jsonl",
        ],
        cwd=repository,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 1 and "there is no such fixture" in ended.stdout
