"""`rollout schema` prints a schema that needs no other, lists all, and answers a mistyped name with a suggestion."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner, Result

from rollout.cli import app
from rollout.source.contract import schema, schema_names


def run(*arguments: str) -> Result:
    return CliRunner().invoke(app, ["schema", *arguments])


@pytest.mark.parametrize("name", schema_names())
def test_a_schema_is_printed_with_those_that_it_refers_to(name: str) -> None:
    ended = run(name)
    assert ended.exit_code == 0
    printed = json.loads(ended.stdout)
    own = {key: each for key, each in printed.get("$defs", {}).items() if not key.startswith("https:")}
    assert {**printed, "$defs": own} == {"$defs": {}, **schema(name)}
    for address, other in printed.get("$defs", {}).items():
        assert address in own or (other["$id"] == address and other in map(schema, schema_names()))


@pytest.mark.parametrize("name", ["code_editing", "code-editing.schema.json"])
def test_a_schema_goes_by_its_file_name_too(name: str) -> None:
    assert json.loads(run(name).stdout) == schema("code-editing")


def test_without_a_name_all_are_listed() -> None:
    ended = run()
    assert ended.exit_code == 0
    assert [line.split()[0] for line in ended.stdout.splitlines()] == list(schema_names())
    assert "verifier      A verifier\n" in ended.stdout


def test_the_list_is_one_json_envelope() -> None:
    envelope = json.loads(run("--json").stdout)
    assert (envelope["schema_version"], envelope["command"]) == (1, "schema")
    assert [entry["name"] for entry in envelope["data"]] == list(schema_names())


def test_one_schema_in_an_envelope() -> None:
    envelope = json.loads(run("task", "--json").stdout)
    assert envelope["data"] == {
        "name": "task",
        "title": "A task",
        "id": schema("task")["$id"],
        "schema": schema("task"),
    }


def test_an_unknown_name_gets_a_suggestion() -> None:
    ended = run("verifer")
    assert ended.exit_code == 2
    assert ended.stdout == ""
    assert ended.stderr == "error: There is no schema “verifer”.\n  help: Did you mean “verifier”?\n"


def test_a_name_unlike_any_gets_the_list() -> None:
    ended = run("zzz")
    assert ended.exit_code == 2
    assert "The schemas are browser, code-editing, custom," in ended.stderr
