"""On GitHub Actions no text of a spec or a model is a command to the runner; what fails is told as a failure."""

from __future__ import annotations

import json
import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner, Result

from rollout.cli import app
from rollout.cli.output import powerless

COMMAND = re.compile(r"(?:^|[\r\n])\s*::|##\[")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    for name, note in (("desk", "Quick."), ("desk-2", "Quicker.")):
        (tmp_path / f"{name}.yaml").write_text(
            f"""\
slug: desk
template: code-editing
description: |
  ##[add-path]/evil
  ::error::{note}
config:
  files:
    a.md: |
      ::error file=x::{note}

      ::warning::pwn
        ##[set-env name=A]{note}
tasks:
  - instruction: |
      Say it.
        ::error file=x::pwn
      ##[group]{note}
    hidden_ground_truth: {{files: {{a.md: done}}}}
    solution: [{{tool: write_file, args: {{path: a.md, content: done}}}}, {{answer: "::stop-commands::{note}"}}]
""",
            encoding="utf-8",
        )
    return tmp_path


def rollout(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments, prog_name="rollout")


@pytest.mark.parametrize(
    "arguments",
    [
        ("validate", "desk.yaml"),
        ("validate", "desk.yaml", "--json"),
        ("diff", "desk.yaml", "desk-2.yaml"),
        ("diff", "desk.yaml", "desk-2.yaml", "--format", "markdown"),
        ("diff", "desk.yaml", "desk-2.yaml", "--format", "json"),
        ("prove", "desk.yaml"),
        ("test", "desk.yaml", "--model", "oracle"),
        ("test", "desk.yaml", "--model", "noop"),
        ("test", "desk.yaml", "--model", "oracle", "--json"),
        ("play", "desk.yaml"),
    ],
    ids=" ".join,
)
def test_what_a_spec_says_is_no_command(here: Path, arguments: tuple[str, ...]) -> None:
    result = rollout(*arguments)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert COMMAND.search(result.output) is None
    assert "pwn" in result.output or "Quick" in result.output or arguments[0] in ("validate", "prove")


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("::error::x", ": :error::x"),
        ("a\n \t\u2003::error::x\r::debug::y", "a\n \t\u2003: :error::x\r: :debug::y"),
        ("a ##[error]x ###[b]", "a # #[error]x ## #[b]"),
        ("std::vector\na::b: #[derive]", "std::vector\na::b: #[derive]"),
        (":::error", ": ::error"),
    ],
)
def test_a_blank_takes_the_power_away(text: str, shown: str, here: Path) -> None:
    assert powerless(text) == shown
    assert COMMAND.search(shown) is None


def test_elsewhere_texts_stay_as_they_are(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GITHUB_ACTIONS")
    assert powerless("::error::x ##[b]") == "::error::x ##[b]"


def test_json_means_the_same(here: Path) -> None:
    shown = rollout("diff", "desk.yaml", "desk-2.yaml", "--json").stdout
    assert "##[add-path]/evil" in json.dumps(json.loads(shown))


def test_annotations_are_commands(here: Path) -> None:
    (here / "desk.yaml").write_text("slug: desk\ntemplate: custom\nbad: 1\n", encoding="utf-8")
    assert rollout("validate", "desk.yaml", "--format", "github").stdout.startswith("::error file=desk.yaml,")


def test_under_strict_a_warning_is_a_failure_in_every_format(here: Path) -> None:
    path = here / "environment.yaml"
    (here / "desk.yaml").rename(path)
    (here / "desk-2.yaml").rename(here / "unread.yaml")

    def strict(output_format: str) -> str:
        result = rollout("validate", ".", "--strict", "--format", output_format)
        assert result.exit_code == 1
        return result.stdout

    assert rollout("validate", ".").exit_code == 0
    junit = ElementTree.fromstring(strict("junit"))
    assert junit.get("failures") == "1" and len(junit.findall(".//failure")) == 1
    assert json.loads(strict("json"))["errors"] == 1
    assert [each["level"] for each in json.loads(strict("sarif"))["runs"][0]["results"]] == ["error"]
    assert strict("github").startswith("::error ")
    assert ": error: " in strict("text") and ": error: " in strict("concise")
