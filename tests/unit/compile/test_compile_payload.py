"""What an environment compiles to: the published payload, in one order, without anything that is only local."""

from __future__ import annotations

import json
import runpy
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from rollout import Environment, Task
from rollout.compile.payload import compile_environment, environment_of

CASES = Path(__file__).parents[2] / "cases" / "compile"


def workflow(**changes: Any) -> Environment:
    given: dict[str, Any] = {
        "slug": "desk",
        "name": "Desk",
        "template": "workflow",
        "config": {"tools": [{"name": "ping", "kind": "mock", "response": "pong"}]},
        "tasks": [Task("Ping.", {"a": 1})],
    }
    return Environment(**{**given, **changes})


def readme(name: str) -> Environment:
    environment: Environment = runpy.run_path(str(CASES / name / "env.py"))["env"]
    return environment


@pytest.mark.parametrize("name", ["readme-templated", "readme-builders"])
def test_the_readme_example_compiles_to_what_the_published_client_sends(name: str) -> None:
    published = json.loads((CASES / name / "published.json").read_text())
    assert json.loads(compile_environment(readme(name)).data) == published


@pytest.mark.parametrize("name", ["readme-templated", "readme-builders"])
def test_the_bytes_of_the_readme_example_stay(name: str) -> None:
    golden = (CASES / name / "compiled.json").read_bytes()
    compiled = compile_environment(readme(name))
    assert compiled.data == golden
    assert compiled.digest == f"sha256:{sha256(golden).hexdigest()}"


def test_the_file_is_one_line_of_utf8_json_that_holds_both_bodies() -> None:
    compiled = compile_environment(workflow(name="Büro 🙂"))
    assert compiled.data.endswith(b"\n") and compiled.data.count(b"\n") == 1
    assert "Büro 🙂".encode() in compiled.data
    assert json.loads(compiled.data) == {"environment": compiled.environment, "verifier": compiled.verifier}


def test_known_keys_have_the_published_order_and_data_is_sorted() -> None:
    config = {
        "initialMutableState": {"b": [], "a": []},
        "fixtures": {"z": {"y": 1, "x": 2}, "a": 1},
        "tools": [{"value": {"q": 1, "p": 2}, "appendTo": "a", "kind": "action", "name": "note"}],
    }
    compiled = compile_environment(workflow(config=config)).environment
    assert list(compiled) == ["slug", "name", "template", "config", "tasks"]
    assert list(compiled["config"]) == ["tools", "fixtures", "initialMutableState"]
    assert list(compiled["config"]["tools"][0]) == ["name", "kind", "appendTo", "value"]
    assert list(compiled["config"]["tools"][0]["value"]) == ["p", "q"]
    assert list(compiled["config"]["fixtures"]) == ["a", "z"]
    assert list(compiled["config"]["fixtures"]["z"]) == ["x", "y"]


def test_ids_solutions_and_extension_keys_stay_behind() -> None:
    environment = workflow(
        tasks=[Task("Ping.", {"a": 1}, id="ping", solution=[{"tool": "ping"}])],
        config={
            "x-owner": "desk",
            "tools": [{"name": "ping", "kind": "mock", "response": {"x-kept": 1}, "x-note": "old"}],
            "fixtures": {"x-ray": {"x-dose": 1}},
        },
        verifier={"x-why": 1, "primitives": [{"name": "p", "type": "no_tool_errors", "x-todo": 1}]},
    )
    data = compile_environment(environment).data
    for local in (b'"id"', b"solution", b"x-owner", b"x-note", b"x-why", b"x-todo"):
        assert local not in data
    for kept in (b"x-kept", b"x-ray", b"x-dose"):
        assert kept in data


@pytest.mark.parametrize(
    "change",
    [
        lambda e: setattr(e, "description", ""),
        lambda e: setattr(e.tasks[0], "input", {}),
        lambda e: setattr(e.tasks[0], "hidden_ground_truth", {"a": 1.0}),
        lambda e: setattr(e, "verifier", None),
    ],
)
def test_what_says_nothing_changes_nothing(change: Callable[[Environment], None]) -> None:
    environment = workflow()
    before = compile_environment(environment).data
    change(environment)
    assert compile_environment(environment).data == before


def test_options_that_say_their_default_are_left_out_and_a_weight_is_always_written() -> None:
    said = {
        "passThreshold": 1.0,
        "primitives": [
            {
                "name": "p",
                "type": "state_match",
                "expected": {"a": 1},
                "not": False,
                "subset": False,
                "weight": 1.0,
            },
        ],
    }
    unsaid = {"primitives": [{"type": "state_match", "name": "p", "expected": {"a": 1}}]}
    compiled = compile_environment(workflow(verifier=said))
    assert compiled.verifier == {
        "primitives": [{"name": "p", "type": "state_match", "weight": 1, "expected": {"a": 1}}]
    }
    assert compiled.data == compile_environment(workflow(verifier=unsaid)).data


def test_options_that_say_something_else_are_kept() -> None:
    primitive = {
        "name": "p",
        "type": "contains_terms",
        "terms": ["x"],
        "caseSensitive": False,
        "not": True,
        "weight": 0,
    }
    verifier = compile_environment(
        workflow(verifier={"primitives": [primitive], "passThreshold": 0.5})
    ).verifier
    assert verifier == {"primitives": [primitive], "passThreshold": 0.5}


def test_the_line_breaks_of_sql_and_descriptions_count_once_and_not_at_the_end() -> None:
    def sql(schema: str, description: str) -> Environment:
        return Environment("s", "S", "sql", [Task("?")], description, schema)

    unix = sql("CREATE TABLE t (a);\nCREATE TABLE u (a);", "One.\nTwo.")
    windows = sql("CREATE TABLE t (a);\r\nCREATE TABLE u (a);\r\n", "One.\r\nTwo.\n\n")
    assert compile_environment(windows).data == compile_environment(unix).data


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), "\ud800", object(), {1, 2}, b"bytes"],
    ids=["NaN", "infinity", "lone surrogate", "object", "set", "bytes"],
)
def test_what_json_cannot_say_is_a_value_error(value: object) -> None:
    environment = workflow(tasks=[Task("Ping.", {"a": value})])
    with pytest.raises(ValueError):
        compile_environment(environment)


def test_a_value_that_holds_itself_is_a_value_error() -> None:
    loop: dict[str, Any] = {}
    loop["again"] = loop
    with pytest.raises(ValueError, match="“desk”"):
        compile_environment(workflow(config={"tools": [], "fixtures": loop}))


def test_a_template_without_its_parts_is_a_value_error() -> None:
    with pytest.raises(ValueError, match="needs a config"):
        compile_environment(workflow(config=None))


def test_the_given_environment_is_not_changed() -> None:
    environment = readme("readme-builders")
    before = json.dumps([environment.config, environment.verifier, environment.tasks[0].hidden_ground_truth])
    compile_environment(environment)
    after = json.dumps([environment.config, environment.verifier, environment.tasks[0].hidden_ground_truth])
    assert after == before


def test_a_compiled_file_compiles_to_itself() -> None:
    compiled = compile_environment(readme("readme-builders"))
    again = compile_environment(environment_of(json.loads(compiled.data)))
    assert again == compiled
