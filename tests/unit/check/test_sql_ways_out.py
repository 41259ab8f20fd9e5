"""What is said of a sql environment that is written in another form can be followed to the letter."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rollout.check import check
from rollout.source import read_one

SCHEMA = "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT)"
SEED = "INSERT INTO books VALUES (1, 'Emma'), (2, 'Persuasion')"
QUERY = "SELECT count(*) FROM books"


def found(folder: Path, **environment: Any) -> list[tuple[str, str | None]]:
    """The slugs of what is found in a library, and the hints."""
    task = {"instruction": "How many books are there?", "hidden_ground_truth": {"query": QUERY}}
    whole = {"template": "sql", "tasks": [task], **environment}
    (folder / "environment.yaml").write_text(yaml.safe_dump(whole), encoding="utf-8")
    return [(each.slug, each.hint) for each in check(read_one(folder)).diagnostics]


@pytest.mark.parametrize(
    ("environment", "slug", "hint"),
    [
        (
            {"schema": SCHEMA, "seed": SEED, "config": {"readOnly": False}},
            "misplaced-key",
            "Leave “config” out, and write “readOnly” beside “template”.",
        ),
        (
            {"config": {"read_only": False, "schema": SCHEMA, "seed": SEED}},
            "misplaced-key",
            "Leave “config” out, and write “readOnly”, “schema” and “seed” beside “template”.",
        ),
        (
            {"schema": SCHEMA, "config": {"tools": []}},
            "misplaced-key",
            "A sql environment has “schema” and “seed” in its place.",
        ),
        (
            {"database": {"schema": SCHEMA, "seed": SEED}},
            "unknown-key",
            "Leave it out, and write “schema” and “seed” in its place.",
        ),
        (
            {"schema": SCHEMA, "sql": {"readOnly": False}},
            "unknown-key",
            "Leave it out, and write “readOnly” in its place.",
        ),
    ],
)
def test_what_stands_in_an_object_of_its_own_belongs_beside_the_template(
    environment: dict[str, Any], slug: str, hint: str, tmp_path: Path
) -> None:
    assert found(tmp_path, **environment) == [(slug, hint)]


@pytest.mark.parametrize("query", [QUERY, "DELETE FROM books"])
def test_a_ground_truth_that_is_a_query_is_to_be_given_a_name(query: str, tmp_path: Path) -> None:
    task = {"instruction": "How many books are there?", "hidden_ground_truth": query}
    told = f'Give it a name: {{"query": "{query}"}}'
    assert found(tmp_path, schema=SCHEMA, seed=SEED, tasks=[task]) == [("wrong-type", told)]


def test_a_query_with_a_name_is_no_row(tmp_path: Path) -> None:
    task = {"instruction": "How many books are there?", "hidden_ground_truth": {"query": [{"sql": QUERY}]}}
    assert found(tmp_path, schema=SCHEMA, seed=SEED, tasks=[task]) == [
        ("ground-truth-shape", f'Write the query alone: "{QUERY}"')
    ]


def test_a_primitive_with_a_query_that_has_a_name_is_shown_one_that_has_none(tmp_path: Path) -> None:
    primitive = {"name": "count", "type": "sql_result", "query": {"sql": QUERY}}
    [(slug, hint)] = found(tmp_path, schema=SCHEMA, seed=SEED, verifier={"primitives": [primitive]})
    assert slug == "wrong-type"
    assert hint is not None
    assert hint.startswith('For example: "SELECT ')


def test_a_gold_that_changes_data_which_nobody_may_is_told_how_they_may(tmp_path: Path) -> None:
    task = {
        "instruction": "Take Emma out.",
        "hidden_ground_truth": {"query": "DELETE FROM books WHERE id = 1"},
    }
    hint = "Ask with a SELECT, or write readOnly: false beside “template” where agents are to change data."
    assert found(tmp_path, schema=SCHEMA, seed=SEED, tasks=[task]) == [("gold-sql-fails", hint)]
    assert found(tmp_path, schema=SCHEMA, seed=SEED, tasks=[task], readOnly=False) == []


def test_a_database_in_a_workflow_says_once_that_the_template_is_wrong(tmp_path: Path) -> None:
    (tmp_path / "schema.sql").write_text(SCHEMA, encoding="utf-8")
    (tmp_path / "seed.sql").write_text(SEED, encoding="utf-8")
    verifier = {"primitives": [{"name": "count", "type": "sql_result"}]}
    hint = "Write “template: sql”, or rewrite the environment."
    assert found(tmp_path, template="workflow", verifier=verifier) == [("wrong-template", hint)]
    assert found(tmp_path, template="sql", verifier=verifier) == []
