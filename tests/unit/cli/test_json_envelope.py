"""`--json` ends in one envelope whatever comes of the command: its data, or the error that kept it from any."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from typer.testing import CliRunner, Result

from rollout.cli import COMMANDS, app
from rollout.cli.envelope import envelope_of
from rollout.cli.output import tell_error
from rollout.family import member, members

ROOT = Path(__file__).parents[3]
BROKEN = ROOT / "tests" / "cases" / "models" / "bad_environment"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)

    def invoke(*arguments: str) -> Result:
        return CliRunner().invoke(app, list(arguments), prog_name="rollout")

    return invoke


@pytest.mark.parametrize(
    "words",
    [
        ("validate", "nope"),
        ("prove", "nope"),
        ("compile", "nope"),
        ("diff", "nope", "nope"),
        ("unpack", "nope", "--output", "here"),
        ("test", "nope", "--model", "noop"),
        ("play", "nope"),
        ("regrade", "run", "--with", "nope"),
        ("push", "nope"),
    ],
    ids=lambda words: words[0],
)
def test_a_path_that_is_not_there_is_an_error_in_the_envelope(run: Any, words: tuple[str, ...]) -> None:
    ended = run(*words, "--json")
    envelope = json.loads(ended.stdout)
    assert ended.exit_code == 2
    assert envelope.keys() == {"schema_version", "command", "error"}
    assert (envelope["schema_version"], envelope["command"]) == (1, words[0])
    assert "nope" in envelope["error"]["message"]
    assert f"error: {envelope['error']['message']}" in ended.stderr
    assert run(*words).stdout == ""


@pytest.mark.parametrize(
    ("words", "command", "message", "way_out"),
    [
        (
            ("validate",),
            "validate",
            "Missing argument “PATH…”.",
            "“rollout validate --help” shows how it is used.",
        ),
        (("valdate", "x"), "valdate", "There is no command “valdate”.", "Did you mean “validate”?"),
        (("keys", "create"), "keys create", "Missing argument “NAME”.", "“rollout keys create --help”"),
        (("explain", "duplicate-tsk-id"), "explain", "There is no rule", "Did you mean “duplicate-task-id”?"),
        (("prove", "."), "prove", "There is no environment", ""),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_wrong_usage_is_told_in_the_envelope_with_its_way_out(
    run: Any, words: tuple[str, ...], command: str, message: str, way_out: str
) -> None:
    ended = run(*words, "--json")
    envelope = json.loads(ended.stdout)
    assert (ended.exit_code, envelope["command"], envelope["error"]["diagnostics"]) == (2, command, [])
    assert message in envelope["error"]["message"]
    assert way_out in (envelope["error"]["help"] or "")


@pytest.mark.parametrize(
    "words", [("compile",), ("test", "--model", "noop"), ("play",)], ids=lambda words: words[0]
)
def test_what_is_wrong_with_an_environment_is_in_the_envelope_as_validate_has_it(
    run: Any, words: tuple[str, ...]
) -> None:
    ended = run(*words, str(BROKEN), "--json")
    validated = json.loads(run("validate", str(BROKEN), "--json").stdout)["data"]
    error = json.loads(ended.stdout)["error"]
    assert ended.exit_code == 1
    assert error["diagnostics"] == validated["diagnostics"] != []
    assert error["message"] == "There are errors in what was read."


def test_data_is_followed_by_no_error(run: Any) -> None:
    ended = run("validate", str(BROKEN), "--json")
    assert ended.exit_code == 1
    assert json.loads(ended.stdout).keys() == {"schema_version", "command", "data"}


def test_what_was_told_in_passing_is_no_error_where_all_went_well(capsys: pytest.CaptureFixture[str]) -> None:
    with envelope_of("push"):
        tell_error("One was left out.")
    assert capsys.readouterr().out == ""


def test_a_secret_is_not_in_the_envelope(run: Any) -> None:
    key = "sk-ant-" + "a1B2c3D4" * 4
    ended = run("validate", key, "--json")
    assert key not in ended.stdout
    assert "error" in json.loads(ended.stdout)


def test_an_interrupted_command_says_so_in_the_envelope(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with pytest.raises(KeyboardInterrupt), envelope_of("prove"):
        raise KeyboardInterrupt
    assert json.loads(capfdbinary.readouterr().out)["error"]["message"] == "Interrupted."


def test_every_command_that_has_json_is_seen_to(run: Any) -> None:
    for name in members(COMMANDS):
        module = member(COMMANDS, name)
        if module is None or isinstance(getattr(module, name), typer.Typer):
            continue
        ended = run(name, "--no-such-option", "--json")
        assert json.loads(ended.stdout)["command"] == name
