"""`rollout explain` tells the story of one rule, or lists all; what it does not know it answers with a suggestion."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner, Result

from rollout.check.rulebook import rules
from rollout.cli import app


def explain(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["explain", *arguments])


@pytest.mark.parametrize("name", ["RL301", "rl301", "duplicate-task-id", "duplicate_task_id"])
def test_a_rule_is_explained_by_code_or_slug(name: str) -> None:
    ended = explain(name)
    assert ended.exit_code == 0
    assert ended.stdout.startswith("RL301 duplicate-task-id (error)\n\nTwo tasks have the same id.\n")
    assert "After:" in ended.stdout


def test_without_a_rule_all_are_listed_by_code() -> None:
    ended = explain()
    lines = ended.stdout.splitlines()
    assert ended.exit_code == 0
    assert [line.split()[0] for line in lines] == [rule.code for rule in rules()]
    assert all(rule.slug in line and rule.summary in line for rule, line in zip(rules(), lines, strict=True))


def test_the_beginning_of_a_code_lists_its_rules() -> None:
    ended = explain("RL30")
    assert ended.exit_code == 0
    assert len(ended.stdout.splitlines()) > 1
    assert all(line.startswith("RL30") for line in ended.stdout.splitlines())


@pytest.mark.parametrize(
    ("wrong", "hint"),
    [
        ("duplicate-task-di", "Did you mean “duplicate-task-id”?"),
        ("zzzz", "“rollout explain” lists all rules."),
        ("RL9", "Codes begin with “RL1”, “RL2”, “RL3”, “RL5” or “RL6”."),
        ("rl399", "Codes begin with “RL390”, “RL391”, “RL392” or “RL393”."),
        ("gold_sql", "Did you mean “gold-sql-fails”, “gold-sql-empty”, “gold-sql-drifts” or “gold-sql-tie”?"),
    ],
)
def test_an_unknown_rule_is_wrong_usage_with_a_way_out(wrong: str, hint: str) -> None:
    ended = explain(wrong)
    assert ended.exit_code == 2
    assert ended.stdout == ""
    assert f"There is no rule “{wrong}”." in ended.stderr
    assert hint in ended.stderr


def test_json_has_the_whole_page_in_the_envelope() -> None:
    told = json.loads(explain("duplicate-task-id", "--json").stdout)
    assert (told["schema_version"], told["command"]) == (1, "explain")
    [entry] = told["data"]
    assert entry["code"] == "RL301"
    assert entry["page"].startswith(f"{entry['summary']}\n")
