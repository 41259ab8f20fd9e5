"""How a payload is laid out over files, and that no name in it reaches a file it should not."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import Any

import pytest
import yaml
from compile_strategies import NAMES, environments
from hypothesis import given, settings
from syrupy.assertion import SnapshotAssertion

from rollout import Environment
from rollout.compile.file_name import can_be_path, can_be_stem, fit_together, stem_from
from rollout.compile.payload import compile_environment
from rollout.compile.spread import spread


def payload(template: str, verifier: dict[str, Any] | None = None, **said: Any) -> dict[str, Any]:
    environment = {"slug": "e", "name": "E", "template": template, "tasks": [], **said}
    return {"environment": environment, "verifier": verifier}


def test_a_workflow_is_laid_out_over_its_usual_files(snapshot: SnapshotAssertion) -> None:
    config = {
        "tools": [{"name": "get", "kind": "lookup", "fromArray": "orders", "matchField": "id"}],
        "fixtures": {"orders": [{"id": 1}], "many": [{"n": number} for number in range(40)]},
        "initialMutableState": {"log": []},
    }
    tasks = [
        {"instruction": "a\u2028b", "hiddenGroundTruth": {"log": [1]}, "split": "dev", "input": {"x": 1}},
        {"instruction": "c", "hiddenGroundTruth": {}, "split": "test"},
    ]
    verifier = {"primitives": [{"name": "p", "type": "no_tool_errors", "weight": 1}]}
    files = spread(payload("workflow", verifier, config=config, tasks=tasks, description="One.\n\nTwo."))
    assert files == snapshot


def test_a_sql_environment_has_its_sql_in_files() -> None:
    files = spread(payload("sql", schema="CREATE TABLE t (a);", seed="INSERT INTO t VALUES (1);"))
    assert files["schema.sql"] == "CREATE TABLE t (a);\n"
    assert files["seed.sql"] == "INSERT INTO t VALUES (1);\n"
    assert "config.yaml" not in files


def test_text_that_a_file_would_change_stays_inline() -> None:
    files = spread(
        payload("sql", schema="CREATE TABLE t (a);\rCREATE TABLE u (a);", description="\ufeffa\nb")
    )
    assert "schema.sql" not in files and "description.md" not in files


def test_source_files_keep_their_content_exactly() -> None:
    contents = {"a.py": "x = 1\r\n", "empty.txt": "", "bom.txt": "\ufeffx", "deep/er/b.txt": "no break"}
    files = spread(payload("code-editing", config={"files": contents}))
    assert {
        name.removeprefix("files/"): text for name, text in files.items() if name.startswith("files/")
    } == (contents)
    assert "config.yaml" not in files


def test_pages_are_numbered_because_their_order_counts() -> None:
    pages = [{"url": url, "html": "<p>"} for url in ("/", "/orders/17", "/orders?id=17", "/ÄÖ", "/con")]
    files = spread(payload("browser", config={"initialUrl": "/", "pages": pages}))
    assert [name for name in files if name.startswith("pages/")] == [
        "pages/1-home.yaml",
        "pages/2-orders-17.yaml",
        "pages/3-orders-id-17.yaml",
        "pages/4-home-2.yaml",
        "pages/5-page-con.yaml",
    ]


def test_with_toml_what_holds_null_is_yaml() -> None:
    config = {"tools": [{"name": "m", "kind": "mock", "response": None}]}
    files = spread(payload("workflow", config=config), toml=True)
    assert set(files) == {"environment.toml", "config.yaml"}


@pytest.mark.parametrize(
    "name",
    [
        "../x",
        "..",
        ".",
        "",
        "/etc/passwd",
        "a//b",
        "a/../b",
        "a/./b",
        "a/",
        "./a",
        "C:\\x",
        "C:x",
        "a\\b",
        ".git/config",
        "a/.GIT/hooks/post-checkout",
        "a/.DS_Store",
        "node_modules/x.js",
        "__pycache__/x.pyc",
        "x.pyc",
        "nul",
        "COM1.txt",
        "a/aux/b",
        "a ",
        " a",
        "a.",
        "a\0b",
        "a\nb",
        "a\u2028b",
        "e\u0301",
        "a" * 121,
        "/".join("ab" for _ in range(200)),
        "what?",
        "a|b",
        "a*",
        "\ud800",
    ],
    ids=ascii,
)
def test_hostile_paths_are_no_file_names(name: str) -> None:
    assert not can_be_path(name)
    assert not can_be_stem(name)


@pytest.mark.parametrize(
    "name",
    [
        "a.py",
        "src/main.rs",
        "Makefile",
        "a b.txt",
        "é.txt",
        "日本/語.md",
        "a-b_c.d.e",
        ".gitignore",
        ".github/workflows/test.yml",
    ],
)
def test_usual_paths_are_file_names(name: str) -> None:
    assert can_be_path(name)


def test_names_that_meet_on_some_systems_do_not_all_fit_together() -> None:
    assert fit_together(["a", "A", "b"]) == ["a", "b"]
    assert fit_together(["a", "a/b"]) == ["a"]
    assert fit_together(["a/b", "a"]) == ["a/b"]
    assert fit_together(["Lib/a", "lib/b"]) == ["Lib/a"]
    assert fit_together(["ß", "SS"]) == ["ß"]


def test_one_hostile_name_keeps_all_of_its_key_in_the_config() -> None:
    files = spread(payload("code-editing", config={"files": {"ok.py": "", "../../evil.py": "x"}}))
    assert set(files) == {"environment.yaml", "config.yaml"}
    assert '"../../evil.py"' in files["config.yaml"]


def test_a_stem_resembles_what_it_is_made_from_and_is_never_taken_twice() -> None:
    assert stem_from("/Orders/17?x=y", ()) == "orders-17-x-y"
    assert stem_from("/", ["home"]) == "home-2"
    assert can_be_stem(stem_from("/con", ()))


@settings(max_examples=100, deadline=None)
@given(environments())
def test_every_path_is_plain_whatever_the_payload_says(environment: Environment) -> None:
    compiled = compile_environment(environment)
    files = spread({"environment": compiled.environment, "verifier": compiled.verifier})
    assert all(can_be_path(path) and not PurePosixPath(path).is_absolute() for path in files)
    assert fit_together(files) == list(files)


def test_no_name_is_lost() -> None:
    contents = dict.fromkeys(NAMES, "x")
    files = spread(payload("code-editing", config={"files": contents}))
    assert yaml.safe_load(files["config.yaml"]) == {"files": contents}


def test_with_toml_fixtures_and_pages_are_toml_where_it_can_say_them() -> None:
    fixtures = {
        "orders": [{"id": "O-1", "lines": [{"sku": "a"}]}],
        "limits": {"max": 3},
        "words": ["a", "b"],
        "none": [],
        "holes": [{"id": None}],
        "deep": {"deep": [1]},
        "number": 3,
    }
    files = spread(payload("workflow", config={"tools": [], "fixtures": fixtures}), toml=True)
    assert {name for name in files if name.startswith("fixtures/")} == {
        "fixtures/orders.toml",
        "fixtures/limits.toml",
        "fixtures/words.toml",
        "fixtures/none.toml",
        "fixtures/holes.yaml",
        "fixtures/deep.yaml",
        "fixtures/number.yaml",
    }
    pages = [{"url": "/", "title": "a", "elements": []}, {"url": "/b", "title": "b", "elements": []}]
    files = spread(payload("browser", config={"initialUrl": "/", "pages": pages}), toml=True)
    assert {name for name in files if name.startswith("pages/")} == {"pages/1-home.toml", "pages/2-b.toml"}
