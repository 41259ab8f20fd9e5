"""2 whenever a file could not be read or parsed, 1 when all was read and something in it is wrong (decision 0006)."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from rollout.check.report import UNPARSED
from rollout.check.rulebook import rules
from rollout.cli import app

RULES = Path(__file__).parents[2] / "cases" / "rules"
OF_READING = {rule.slug for rule in rules() if rule.code.startswith("RL1") and rule.severity == "error"}
PARSED = {
    "bad-number",
    "duplicate-key",
    "duplicate-slug",
    "key-in-two-places",
    "lone-surrogate",
    "malformed-allowance",
    "merge-key",
    "name-is-no-slug",
    "non-string-key",
    "not-json",
    "tag-mismatch",
    "task-not-an-object",
    "tasks-not-a-list",
    "unknown-tag",
}
"""What is wrong in a file of which all was read."""
OTHERWISE = {
    "compiled-file",
    "environment-not-an-object",
    "no-environment-file",
    "no-environment-in-file",
    "path-leaves-folder",
    "python-file-failed",
}
"""Where there is no environment to be read, or it is not all there."""


def exit_code(path: Path) -> int:
    return CliRunner().invoke(app, ["validate", str(path)], prog_name="rollout").exit_code


def cases(slugs: set[str] | frozenset[str]) -> list[str]:
    return sorted(
        f"{slug}/{case.name}"
        for slug in slugs
        for case in (RULES / slug).glob("bad*")
        if case.is_dir() or case.suffix in (".py", ".yaml")
    )


def test_every_error_of_reading_is_known_here() -> None:
    assert OF_READING == UNPARSED | PARSED | OTHERWISE


@pytest.mark.parametrize("case", cases(UNPARSED | OTHERWISE))
def test_a_file_that_cannot_be_read_or_parsed_is_a_2(case: str) -> None:
    assert exit_code(RULES / case) == (1 if case == "path-leaves-folder/bad-spec" else 2)


@pytest.mark.parametrize("case", cases(PARSED))
def test_a_mistake_in_what_was_read_is_a_1(case: str) -> None:
    # In one of them there is a second environment file, too.
    assert exit_code(RULES / case) == (2 if case == "key-in-two-places/bad-tasks" else 1)


TEMPLATE = "template: custom\nconfig: {tools: [{name: t, response: 1}]}\n"


@pytest.mark.parametrize(
    ("files", "code"),
    [
        ({"environment.yaml": TEMPLATE + "description: *nothing\n"}, 2),
        ({"environment.yaml": TEMPLATE + "x-a: &a [*a]\n"}, 2),
        ({"environment.yaml": TEMPLATE + "---\nmore: 1\n"}, 2),
        ({"environment.yaml": TEMPLATE + 'description: "a\x01"\n'}, 2),
        ({"environment.yaml": TEMPLATE, "environment.toml": 'template = "custom"\n'}, 2),
        ({"environment.yaml": TEMPLATE, "tasks.jsonl": '{"instruction": "i", \n'}, 2),
        ({"environment.yaml": TEMPLATE, "tasks.jsonl": '{"instruction": 1}\n'}, 1),
    ],
)
def test_it_does_not_matter_what_kept_it_from_being_parsed(
    files: dict[str, str], code: int, tmp_path: Path
) -> None:
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert exit_code(tmp_path) == code
