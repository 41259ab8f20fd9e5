"""The way out of a finding is one that can be taken: what to write, or where to put it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from rollout.check import check
from rollout.source import read_one


def ways_out(folder: Path, environment: dict[str, Any]) -> dict[str, str | None]:
    """The hints of what is found, by slug."""
    (folder / "environment.yaml").write_text(yaml.safe_dump(environment), encoding="utf-8")
    return {found.slug: found.hint for found in check(read_one(folder)).diagnostics}


def desk(**changes: Any) -> dict[str, Any]:
    """A desk with one tool, whose keys ``changes`` are in the place of."""
    tool = {
        "name": "refund",
        "kind": "action",
        "description": "Refund an order.",
        "stateArray": "refunds",
        "paramsSchema": {"order_id": "string", "amount": "number"},
    }
    task = {
        "instruction": "Refund order O-1.",
        "hidden_ground_truth": {"refunds": [{"order_id": "O-1", "amount": 100}]},
        "solution": [{"tool": "refund", "args": {"order_id": "O-1", "amount": 100}}],
    }
    return {
        "template": "workflow",
        "config": {"tools": [tool | changes.get("tool", {})], "initialMutableState": {"refunds": []}},
        "tasks": [task | changes.get("task", {})],
        **changes.get("environment", {}),
    }


def test_a_key_of_the_authors_own_with_the_wrong_sign(tmp_path: Path) -> None:
    assert ways_out(tmp_path, desk(environment={"x_owner": "me"}))["unknown-key"] == "Did you mean “x-owner”?"


@pytest.mark.parametrize(
    ("when", "way_out"),
    [
        ("${args.amount} > 5", "leave “${” and “}” away."),
        ("args.amount not in [1, 2]", "For “not in”, write !(… in …)."),
        ("not (args.amount in [1, 2])", "For “not”, write !(…)."),
        ("args.amount = 5", "Compare with ==, join with && and ||, and put texts into quotes."),
        ("args.order_id == '${' and '${' == 'not in'", "Compare with ==, join with && and ||"),
    ],
)
def test_a_condition_in_the_way_of_another_language(when: str, way_out: str, tmp_path: Path) -> None:
    tool = {
        "name": "refund",
        "description": "Refund an order.",
        "paramsSchema": {"order_id": "string", "amount": "number"},
        "cases": [{"when": when, "response": "yes"}],
    }
    task = {"instruction": "Refund order O-1.", "solution": [{"answer": "Done."}]}
    found = ways_out(tmp_path, {"template": "custom", "config": {"tools": [tool]}, "tasks": [task]})
    assert way_out in (found["bad-condition"] or "")


@pytest.mark.parametrize(
    ("schema", "way_out"),
    [
        ({"type": "number", "minimum": "0"}, "Write 0 without quotes."),
        ({"type": "number", "minimum": "low"}, "Write a number, or leave it out."),
        ({"type": "string", "minLength": -1}, "Write 0 or more, or leave it out."),
        ({"type": "number", "multipleOf": 0}, "Write more than 0, or leave it out."),
        (
            {"type": "string", "pattern": "(("},
            "Patterns are in the dialect of JavaScript here; see that every bracket that opens also closes.",
        ),
    ],
)
def test_a_parameter_that_is_no_schema(schema: dict[str, Any], way_out: str, tmp_path: Path) -> None:
    found = ways_out(tmp_path, desk(tool={"paramsSchema": {"order_id": "string", "amount": schema}}))
    assert found["bad-params-schema"] == way_out


@pytest.mark.parametrize(
    ("args", "way_out"),
    [
        ({"order_id": "O-1", "amount": "100"}, "Write 100 without quotes."),
        ({"order_id": "O-1", "amount": "all"}, "Give a number."),
        ({"order_id": 7, "amount": 100}, 'Write "7", in quotes.'),
    ],
)
def test_an_argument_of_the_wrong_type(args: dict[str, Any], way_out: str, tmp_path: Path) -> None:
    found = ways_out(tmp_path, desk(task={"solution": [{"tool": "refund", "args": args}]}))
    assert found["bad-solution-arguments"] == way_out


def test_a_tool_that_is_not_there_where_there_is_only_one(tmp_path: Path) -> None:
    found = ways_out(tmp_path, desk(task={"solution": [{"tool": "ship", "args": {}}]}))
    assert found["unknown-tool-in-solution"] == "The only tool is “refund”."


def test_a_fixture_path_into_a_list(tmp_path: Path) -> None:
    environment = desk()
    lookup = {"name": "get", "kind": "lookup", "description": "Look.", "fixturePath": "orders.first"}
    environment["config"]["tools"].append(lookup | {"paramsSchema": {}})
    environment["config"]["fixtures"] = {"orders": [{"id": "O-1"}]}
    assert ways_out(tmp_path, environment)["unknown-fixture-path"] == (
        "“orders” is a list: search it with fromArray and matchField, or take a row by its number, from 0."
    )


def test_a_group_that_is_named_as_in_another_dialect(tmp_path: Path) -> None:
    primitive = {"name": "said", "type": "output_matches", "pattern": "(?<sum>[0-9]+)"}
    found = ways_out(tmp_path, desk(environment={"verifier": {"primitives": [primitive]}}))
    assert (
        found["bad-regex"] == "Patterns are in Python's dialect, which names a group with a P: “(?P<sum>…)”."
    )


@pytest.mark.parametrize(
    ("key", "value", "way_out"),
    [
        ("verifier", {"primitives": []}, "Move it to the environment: it holds for all tasks."),
        ("primitives", [], "Move it to the environment's “verifier”: it holds for all tasks."),
        ("fixtures", {}, "Move it to the environment's “config”: it holds for all tasks."),
    ],
)
def test_what_holds_for_all_tasks_is_no_key_of_one(
    key: str, value: Any, way_out: str, tmp_path: Path
) -> None:
    assert ways_out(tmp_path, desk(task={key: value})) == {"misplaced-key": way_out}


def test_what_may_be_meant_for_the_task_itself_is_not_sent_away(tmp_path: Path) -> None:
    assert set(ways_out(tmp_path, desk(task={"description": "The easy one."}))) == {"unknown-key"}


@pytest.mark.parametrize(
    ("name", "content", "way_out"),
    [
        (
            "desk.py",
            "x = (\n",
            "Mend it there or shortly before; Python itself says as much when it runs the file.",
        ),
        (
            "desk.py",
            "def f():\n    return f()\nf()\n",
            "A function calls itself here without an end, or data holds itself: give it an end.",
        ),
    ],
)
def test_a_python_file_that_fails(name: str, content: str, way_out: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert [found.hint for found in check(read_one(tmp_path / name)).diagnostics] == [way_out]


def test_a_python_file_without_tasks_is_told_how_it_has_one(tmp_path: Path) -> None:
    path = tmp_path / "desk.py"
    path.write_text(
        "from rollout import Environment\n"
        'env = Environment(slug="x", name="X", template="workflow", config={"tools": []})\n',
        encoding="utf-8",
    )
    [hint] = [found.hint for found in check(read_one(path)).diagnostics if found.slug == "no-tasks"]
    assert hint == 'Give the Environment one: tasks=[Task(instruction="…", hidden_ground_truth={…})].'


@pytest.mark.parametrize(
    ("task", "slug"),
    [
        ({"hidden_ground_truth": {"cafe\u0301": []}}, "unknown-state-in-ground-truth"),
        (
            {"solution": [{"tool": "refund", "args": {"order_id": "O-1", "caf\u00e9": 1}}]},
            "bad-solution-arguments",
        ),
    ],
    ids=["state", "argument"],
)
def test_names_that_only_look_the_same_are_told_apart(
    task: dict[str, Any], slug: str, tmp_path: Path
) -> None:
    environment = desk(task=task, tool={"paramsSchema": {"order_id": "string", "cafe\u0301": "number"}})
    environment["config"]["initialMutableState"]["caf\u00e9"] = []
    hint = ways_out(tmp_path, environment)[slug]
    assert hint is not None and "This only looks the same: it has U+" in hint


def test_a_key_in_two_files_is_shown_by_their_first_lines(tmp_path: Path) -> None:
    (tmp_path / "environment.yaml").write_text("template: workflow\n", encoding="utf-8")
    (tmp_path / "environment.toml").write_text('\ufefftemplate = "workflow"\r\n', encoding="utf-8")
    [found] = check(read_one(tmp_path)).diagnostics
    assert (found.span.text, found.span.end_column) == ('template = "workflow"', 22)
    assert [related.span.text for related in found.related] == ["template: workflow"]


@pytest.mark.parametrize("key", ["sk-or-v1-" + "0a1b2c3d" * 8, "sk-or-v1-" + "a1B2c3D4e5" * 4])
def test_a_key_of_openrouter_is_called_that(key: str, tmp_path: Path) -> None:
    environment = desk()
    environment["config"]["fixtures"] = {"key": key}
    (tmp_path / "environment.yaml").write_text(yaml.safe_dump(environment), encoding="utf-8")
    found = [each.message for each in check(read_one(tmp_path)).diagnostics if each.slug == "secret-in-spec"]
    assert len(found) == 1 and found[0].startswith("This looks like an OpenRouter API key")


def test_a_placeholder_that_calculates_is_led_to_what_the_template_has(tmp_path: Path) -> None:
    value = {"appendTo": "refunds", "value": {"cents": "${args.amount * 100}"}}
    tool = {key: each for key, each in desk()["config"]["tools"][0].items() if key != "stateArray"}
    config = {"tools": [tool | value], "initialMutableState": {"refunds": []}}
    found = ways_out(tmp_path, desk(environment={"config": config}))
    assert "A workflow does not calculate" in str(found["bad-placeholder"])
    tool = {"name": "refund", "description": "Refund.", "paramsSchema": {"amount": "number"}}
    tool["mutates"] = {"path": "refunds[]", "value": "${args.amount * 100}"}
    config = {"tools": [tool], "initialState": {"refunds": []}}
    found = ways_out(tmp_path, desk(environment={"template": "custom", "config": config}))
    assert "Work it out under “vars”" in str(found["bad-placeholder"])


def test_a_list_is_added_to_the_start_state_that_is_there_and_declared_where_there_is_none(
    tmp_path: Path,
) -> None:
    tool = desk()["config"]["tools"][0] | {"stateArray": "revoked"}
    config = {"tools": [tool], "initialMutableState": {"refunds": []}}
    found = ways_out(tmp_path, desk(environment={"config": config}))
    assert found["unknown-state-list"] == "Add it to “initialMutableState”: revoked: []."
    found = ways_out(tmp_path, desk(environment={"config": {"tools": [tool]}}))
    assert found["unknown-state-list"] == "Declare it: initialMutableState: {revoked: []}."


def test_a_number_with_an_exponent_is_written_so_that_every_reader_takes_it_for_one(tmp_path: Path) -> None:
    (tmp_path / "environment.yaml").write_text(
        "name: A\ntemplate: workflow\nx-least: 1e-320\n", encoding="utf-8"
    )
    found = [each.hint for each in check(read_one(tmp_path)).diagnostics if each.slug == "yaml-surprise"]
    assert found == ['Write "1e-320" for the text, or 1.0e-320 for the number.']


def library(**changes: Any) -> dict[str, Any]:
    """A database of books, whose keys ``changes`` are in the place of."""
    return {
        "template": "sql",
        "schema": "CREATE TABLE books (id INTEGER PRIMARY KEY, title TEXT UNIQUE NOT NULL, n INT CHECK (n > 0));",
        "seed": "INSERT INTO books VALUES (1, 'Emma', 400);",
        "tasks": [
            {
                "instruction": "Which books are there?",
                "hidden_ground_truth": {"query": "SELECT title FROM books"},
            }
        ],
        "verifier": {"primitives": [{"name": "rows", "type": "sql_result"}]},
        **changes,
    }


@pytest.mark.parametrize(
    ("key", "sql", "way_out"),
    [
        ("schema", "CREATE TABEL b (id INT);", "Did you mean “TABLE”?"),
        (
            "schema",
            "CREATE TABLE b (id INT);\nCREATE INDEX i ON boks (id);",
            "Make it in the schema, before it is",
        ),
        ("schema", "CREATE TABLE books (id INT);\nCREATE INDEX i ON boks (id);", "Did you mean “books”?"),
        (
            "schema",
            "CREATE TABLE a (id INT)\nCREATE TABLE b (id INT);",
            "If a statement begins there, end the",
        ),
        ("schema", "CREATE TABLE a (id INT); CREATE TABLE a (id INT);", "Leave one of the two out, or"),
        (
            "schema",
            "CREATE TABLE a (id INT, FOREIGN KEY (c) REFERENCES d);",
            "Define it in the schema, or name",
        ),
        ("schema", "CREATE TABLE a (id INT,);", "The SQL is run by SQLite; write it in SQLite's dialect."),
        ("seed", "INSERT INTO boks VALUES (1);", "Did you mean “books”?"),
        ("seed", "INSERT INTO films VALUES (1);", "The only table is “books”."),
        ("seed", "INSERT INTO books (titel) VALUES ('Emma');", "Did you mean “title”?"),
        ("seed", "INSERT INTO books VALUES (1, 'Emma');", "Write a value for each column, or"),
        ("seed", "INSERT INTO books VALUES (1, 'A', 2), (2, 'A', 3);", "Give each row a value of its own"),
        ("seed", "INSERT INTO books VALUES (1, NULL, 3);", "Give it a value, or let the column be NULL"),
        ("seed", "INSERT INTO books VALUES (1, 'A', -3);", "Write what the CHECK of the schema lets"),
        ("seed", "INSERT INTO books VALUES ('x', 'A', 3);", "Write a value of the type that the column has."),
        ("seed", "ATTACH 'other.db' AS other;", "Leave it out: an environment has one database"),
    ],
)
def test_a_statement_that_does_not_run(key: str, sql: str, way_out: str, tmp_path: Path) -> None:
    found = ways_out(tmp_path, library(**{key: sql}))
    assert (found["sql-fails"] or "").startswith(way_out)


@pytest.mark.parametrize(
    ("query", "marked", "way_out"),
    [
        ("SELECT * FROM bok", "bok", "The only table is “books”."),
        ("SELECT titel FROM books", "titel", "Did you mean “title”?"),
        ("SELEC title FROM books", "SELEC", "Did you mean “SELECT”?"),
        ("SELECT title FROM books; DROP TABLE books", "DROP TABLE books", "Leave one statement, the query"),
        ("-- all", "-- all", "Write a query, which begins with SELECT, WITH or VALUES."),
        ("DELETE FROM books", "DELETE FROM books", "Ask with a SELECT, or write readOnly: false"),
        ("SELECT nam(title) FROM books", "nam", "It is run by SQLite on the database"),
    ],
)
def test_a_gold_query_that_does_not_run(query: str, marked: str, way_out: str, tmp_path: Path) -> None:
    assert gold_that_fails(tmp_path, query)[0] == marked
    assert (gold_that_fails(tmp_path, query)[1] or "").startswith(way_out)


def test_the_statement_of_a_script_that_does_not_run_is_marked(tmp_path: Path) -> None:
    script = "UPDATE books SET n = 1; UPDATE books SET titel = 'Emma'; DELETE FROM books"
    assert gold_that_fails(tmp_path, script, readOnly=False) == ("titel", "Did you mean “title”?")


def gold_that_fails(folder: Path, query: str, **changes: Any) -> tuple[str, str | None]:
    """What is marked of a gold query, and the way out."""
    verifier = {"primitives": [{"name": "rows", "type": "sql_result", "query": query}]}
    text = yaml.safe_dump(library(verifier=verifier, **changes), width=1000, allow_unicode=True)
    (folder / "environment.yaml").write_text(text, encoding="utf-8")
    (found,) = (each for each in check(read_one(folder)).diagnostics if each.slug == "gold-sql-fails")
    line = text.splitlines()[found.span.line - 1]
    return line[found.span.column - 1 : found.span.end_column - 1].strip("'"), found.hint


def test_a_number_that_is_shown_cut_is_not_to_be_written_so(tmp_path: Path) -> None:
    row = {"order_id": 10**400, "amount": 100}
    task = {"hidden_ground_truth": {"refunds": [row]}, "solution": [{"tool": "refund", "args": row}]}
    (tmp_path / "environment.yaml").write_text(yaml.safe_dump(desk(task=task)), encoding="utf-8")
    found = {each.slug: each for each in check(read_one(tmp_path)).diagnostics}
    assert found["bad-solution-arguments"].hint == "Write it in quotes."
    cut = f"“order_id” is 1{'0' * 38}…, a number; "
    for slug in ("bad-solution-arguments", "unwritable-ground-truth"):
        assert found[slug].message.startswith(cut)
