"""The command line itself: wrong usage, streams that are gone, and what the shell can complete."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from rollout import LAST_WITH_TRAINING

ENVIRONMENT = Path(__file__).parents[3] / "environments" / "refund"


def run(*arguments: str, shell: str = "", **variables: str) -> subprocess.CompletedProcess[str]:
    """Runs `rollout` with arguments; ``shell`` is put behind the command line, for redirections."""
    environment = {**os.environ, "PYTHONUTF8": "1", **variables}
    command = [sys.executable, "-m", "rollout", *arguments]
    if shell:
        command = ["bash", "-c", f'"$@" {shell}', "bash", *command]
    return subprocess.run(command, env=environment, capture_output=True, text=True, check=False)


def test_an_unknown_command_is_answered_with_the_likely_one() -> None:
    done = run("validte", "x")
    assert (done.returncode, done.stderr) == (
        2,
        "error: There is no command “validte”.\n  help: Did you mean “validate”?\n",
    )


@pytest.mark.parametrize(
    "command",
    ["improve", "jobs", "job"],
)
def test_a_published_command_that_is_not_here_yet_says_where_it_is(command: str) -> None:
    done = run(command, "x")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.splitlines() == [
        f"error: “{command}” is not part of this version yet.",
        f"  help: Until then it is in 0.2.0; put that into a virtual environment of its own: {LAST_WITH_TRAINING}",
    ]


def test_a_missing_option_is_named_with_the_way_to_the_help() -> None:
    done = run("test", str(ENVIRONMENT))
    assert done.returncode == 2
    assert done.stderr.startswith("error: Missing option “--model”")
    assert done.stderr.endswith("help: “rollout test --help” shows how it is used.\n")


def test_two_formats_at_once_are_refused() -> None:
    done = run("validate", "--json", "--format", "sarif", str(ENVIRONMENT))
    assert (done.returncode, json.loads(done.stdout)["error"]["help"]) == (2, "Choose one of the two.")
    assert done.stderr.startswith("error: --json and --format sarif exclude each other.")


def test_without_a_command_the_help_is_shown() -> None:
    done = run()
    assert done.returncode == 2
    assert "Usage: rollout" in done.stderr + done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", str(ENVIRONMENT)),
        ("explain",),
        ("compile", str(ENVIRONMENT)),
        ("validate", "--json", str(ENVIRONMENT)),
    ],
    ids=" ".join,
)
def test_a_full_disk_is_said_and_is_no_finding(arguments: tuple[str, ...]) -> None:
    done = run(*arguments, shell="> /dev/full")
    assert done.returncode == 3
    assert "could not be written" in done.stderr
    assert "Traceback" not in done.stderr


def test_closed_streams_change_nothing_about_the_outcome() -> None:
    assert run("validate", str(ENVIRONMENT), shell=">&- 2>&-").returncode == 0


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("explain",), 0),
        (("schema", "run"), 0),
        (("validate", str(ENVIRONMENT), "--format", "json"), 0),
        (("compile", str(ENVIRONMENT)), 0),
        (("test", str(ENVIRONMENT), "--model", "oracle", "--json"), 0),
        (("test", str(ENVIRONMENT), "--model", "noop"), 1),
        (("diff", str(ENVIRONMENT), str(ENVIRONMENT.with_name("desk"))), 2),
    ],
)
def test_a_reader_that_leaves_early_changes_nothing_about_the_outcome(
    arguments: tuple[str, ...], code: int, unbuffered: str
) -> None:
    left = run(*arguments, shell="| true; exit ${PIPESTATUS[0]}", PYTHONUNBUFFERED=unbuffered)
    assert left.returncode == code
    assert "Broken" not in left.stderr


def test_a_line_break_in_a_path_cannot_start_a_line_of_its_own() -> None:
    done = run("validate", "e\n::add-mask::x")
    assert done.returncode == 2
    assert not any(line.startswith("::") for line in done.stderr.splitlines())


def test_a_slug_picks_one_environment_of_many(tmp_path: Path) -> None:
    both = [str(ENVIRONMENT), str(ENVIRONMENT.with_name("refund-toml"))]
    assert run("validate", *both, "--slug", "refund").stdout == "1 environment checked, nothing to report.\n"
    done = run("validate", *both, "--slug", "refnd")
    assert done.returncode == 2
    assert "refund-toml" in done.stderr


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("val", "validate"),
        ("new work", "workflow"),
        ("schema ver", "verifier"),
        ("explain dup", "duplicate-task"),
        ("validate --format sa", "sarif"),
        ("test --model or", "oracle"),
        ("test --split de", "dev"),
    ],
)
def test_the_shell_completes_commands_and_values(typed: str, offered: str) -> None:
    words = f"rollout {typed}"
    done = run(_ROLLOUT_COMPLETE="complete_bash", COMP_WORDS=words, COMP_CWORD=str(len(words.split()) - 1))
    assert offered in done.stdout.split()


def test_a_mistake_that_two_environments_of_a_file_share_is_told_once(tmp_path: Path) -> None:
    path = tmp_path / "envs.py"
    path.write_text(
        "from rollout import Environment\n"
        "shared = {'tools': [{'nam': 'x', 'response': 1}]}\n"
        "a = Environment('a', 'A', 'custom', config=shared)\n"
        "b = Environment('b', 'B', 'custom', config=shared)\n"
    )
    done = run("validate", "--format", "concise", "--select", "unknown-key", str(path))
    assert done.stdout.count("unknown-key") == 1


def test_a_python_file_beside_environments_is_told_of_and_not_run(tmp_path: Path) -> None:
    shutil.copytree(ENVIRONMENT, tmp_path / "envs" / "refund")
    python = tmp_path / "envs" / "desk.py"
    python.write_text("from rollout import Environment\n1 / 0\n")
    done = run("validate", str(tmp_path / "envs"), "--json")
    assert done.returncode == 0
    assert done.stderr == (f"Not read: {python.as_posix()}. Reading a Python file runs it, so name it.\n")


@pytest.mark.parametrize("nothing", ["", ",", " "])
@pytest.mark.parametrize("option", ["--select", "--ignore"])
def test_a_selection_of_no_rules_is_refused_and_not_taken_for_none_to_check(
    option: str, nothing: str
) -> None:
    done = run("validate", str(ENVIRONMENT), option, nothing)
    assert (done.returncode, done.stdout) == (2, "")
    assert "names no rule." in done.stderr


@pytest.mark.parametrize("name", ["desk.yaml", "./desk.yaml", "link.yaml"])
def test_an_environment_is_not_compiled_over_itself(tmp_path: Path, name: str) -> None:
    source = tmp_path / "desk.yaml"
    shutil.copy(
        ENVIRONMENT.parent.parent / "tests" / "cases" / "models" / "desk" / "environment.yaml", source
    )
    (tmp_path / "link.yaml").symlink_to("desk.yaml")
    before = source.read_bytes()
    done = run("compile", str(source), "-o", f"{tmp_path}/{name}")
    assert done.returncode == 2
    assert "is a file of the environment itself" in done.stderr
    assert source.read_bytes() == before


@pytest.mark.parametrize(
    "name", ["tasks.jsonl", "tasks/dev.jsonl", "files/README.md", "verifier.yaml", "out.json", "../grade.py"]
)
def test_nothing_is_compiled_into_the_folder_of_an_environment(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "bugfix"
    shutil.copytree(ENVIRONMENT.parent / "python-bugfix", folder)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    (folder / "tasks").mkdir(exist_ok=True)
    done = run("compile", str(folder), "-o", str(folder / name))
    assert done.returncode == 2
    assert "Name a file outside its folder." in done.stderr
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before


LONG = "x" * 300


@pytest.mark.parametrize(
    "arguments",
    [
        ("compile", str(ENVIRONMENT), "-o", LONG),
        ("unpack", LONG, "-o", "y"),
        ("regrade", LONG, "--with", str(ENVIRONMENT)),
        ("test", str(ENVIRONMENT), "-m", f"replay:{LONG}"),
        ("traces", LONG),
        ("validate", LONG),
    ],
    ids=lambda arguments: arguments[0],
)
def test_a_name_that_no_file_may_have_is_said(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: ")
    assert LONG in done.stderr


def test_links_that_lead_to_themselves_are_passed_by(tmp_path: Path) -> None:
    shutil.copytree(ENVIRONMENT, tmp_path / "envs" / "refund")
    for name, to in (("a", "a"), ("b", "c"), ("c", "b")):
        (tmp_path / "envs" / name).symlink_to(to)
    done = run("validate", str(tmp_path / "envs"))
    assert (done.returncode, done.stdout) == (0, "1 environment checked, nothing to report.\n")


def test_a_folder_in_the_place_of_the_environment_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "refund" / "environment.yaml").mkdir(parents=True)
    done = run("validate", str(tmp_path / "refund"))
    assert done.returncode == 2
    assert "is a folder; a file is expected here." in done.stdout


@pytest.mark.parametrize("arguments", [("validate", "."), ("new", "workflow", "x")])
def test_a_folder_that_is_gone_is_said(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    shell = f'cd "{gone}" && rmdir "{gone}" && "$@"'
    command = ["bash", "-c", shell, "bash", sys.executable, "-m", "rollout", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "error: The current folder is gone.\n  help: Change to a folder that there is, and say it again.\n"
    )


def test_without_an_input_there_is_nothing_to_unpack(tmp_path: Path) -> None:
    done = run("unpack", "-", "-o", str(tmp_path / "x"), shell="<&-")
    assert done.returncode == 2
    assert "<stdin>" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "x").exists()


@pytest.mark.parametrize("option", ["--max-cost", "--timeout", "--turn-timeout", "--temperature", "--top-p"])
def test_what_is_no_number_is_no_limit(option: str) -> None:
    done = run("test", str(ENVIRONMENT), "-m", "oracle", option, "nan")
    assert done.returncode == 2
    assert f"{option} is no number." in done.stderr


@pytest.mark.parametrize("option", ["--max-cost", "--timeout", "--turn-timeout"])
def test_what_has_no_end_is_no_limit(option: str) -> None:
    done = run("test", str(ENVIRONMENT), "-m", "oracle", option, "inf")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{option} is without end." in done.stderr


@pytest.mark.parametrize("arguments", [("validate", ""), ("validate", " "), ("test", "", "-m", "oracle")])
def test_an_empty_path_is_not_the_current_folder(arguments: tuple[str, ...]) -> None:
    done = run(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("error: A path is empty.")


def test_two_environments_of_a_python_file_may_not_have_the_same_slug(tmp_path: Path) -> None:
    made = 'Environment(slug="{}", name="A", template="custom", config={{"tools": []}}, tasks=[Task("x", {{"y": 1}})])'
    lines = [
        "from rollout import Environment, Task",
        *(f"e{n} = {made.format(s)}" for n, s in enumerate("rqr")),
    ]
    (tmp_path / "envs.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
    done = run("validate", str(tmp_path / "envs.py"), "--format", "concise", "--select", "RL143")
    assert done.returncode == 1
    assert done.stdout.count("duplicate-slug") == 1
    assert "envs.py:4:" in done.stdout


@pytest.mark.parametrize("arguments", [("--help",), ("keys", "--help")], ids=" ".join)
def test_at_80_columns_every_command_is_listed_with_its_whole_summary(arguments: tuple[str, ...]) -> None:
    listed = run(*arguments, COLUMNS="80").stdout.partition("\nCommands:\n")[2].splitlines()
    assert len(listed) > 2
    assert [line for line in listed if line.endswith("...")] == []
