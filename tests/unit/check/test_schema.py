"""A wrong shape is told as one sentence a defect, at the key or value that is at fault."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
import yaml

from rollout.check.rulebook import rule
from rollout.check.schema import (
    ShapeFault,
    explain,
    faults,
    is_sound,
    shape_findings,
    task_shape,
    task_validator,
)
from rollout.check.schema import (
    _explainer as explainer,
)
from rollout.check.schema import (
    _list_validator as compiled_list,
)
from rollout.check.schema import (
    _validator as compiled,
)
from rollout.check.subject import Subject
from rollout.diagnostics import Span
from rollout.family import members
from rollout.source import contract, read
from rollout.source.contract import schema
from rollout.source.place import Problem

CASES = Path(__file__).parents[2] / "cases" / "shape" / "faults.txt"
MOCK = {"name": "ping", "kind": "mock", "response": "pong"}
TASK = '{"instruction": "Ping.", "hidden_ground_truth": {"pings": 1}}\n'


def words(fault: ShapeFault) -> tuple[str, str | None]:
    describe = rule(fault.slug).describe
    assert describe is not None
    return describe(Problem(fault.slug, Span("environment.yaml", 1, 1, 1, 1), fault.facts))


def written(fault: ShapeFault) -> str:
    message, hint = words(fault)
    route = ".".join(map(str, fault.route)) or "(root)"
    return f"  {route} {fault.at}: {message} [{fault.slug}]\n    {hint}\n"


def test_every_case_is_told_in_these_words(request: pytest.FixtureRequest) -> None:
    text = CASES.read_text(encoding="utf-8")
    told = ""
    for line in text.splitlines():
        if line and not line.startswith(" "):
            name, _, value = line.partition(": ")
            found = explain(name, yaml.safe_load(value))
            assert found, line
            told += line + "\n" + "".join(map(written, found)) + "\n"
    if request.config.getoption("--update-expected"):
        CASES.write_text(told, encoding="utf-8")
    assert told == CASES.read_text(encoding="utf-8")


def document(folder: Path, text: str, **files: str) -> Subject:
    (folder / "environment.yaml").write_text(text, encoding="utf-8")
    (folder / "tasks.jsonl").write_text(TASK, encoding="utf-8")
    for name, content in files.items():
        (folder / name.replace("_", ".")).write_text(content, encoding="utf-8")
    [found] = read(folder)
    return Subject(found)


def slugs(found: list[ShapeFault]) -> list[tuple[str, tuple[str | int, ...]]]:
    return [(fault.slug, fault.route) for fault in found]


def test_an_environment_needs_a_config(tmp_path: Path) -> None:
    [fault] = shape_findings(document(tmp_path, "template: workflow\n"))
    assert words(fault)[0] == "The environment has no “config”."


def test_a_sql_environment_needs_a_schema(tmp_path: Path) -> None:
    [fault] = shape_findings(document(tmp_path, "template: sql\n"))
    assert words(fault)[0] == "The environment has no “schema”."


def test_a_mistyped_config_is_one_fault(tmp_path: Path) -> None:
    found = shape_findings(document(tmp_path, "template: sql\nschemma: CREATE TABLE t (id INTEGER)\n"))
    assert slugs(found) == [("unknown-key", ("schemma",))]


def test_keys_that_belong_in_a_missing_config_are_told_alone(tmp_path: Path) -> None:
    found = shape_findings(document(tmp_path, "template: workflow\ntools: []\nfixtures: {}\n"))
    assert slugs(found) == [("misplaced-key", ("tools",)), ("misplaced-key", ("fixtures",))]


def test_a_config_in_a_sibling_file_counts(tmp_path: Path) -> None:
    subject = document(
        tmp_path, "template: workflow\n", config_yaml="tools: [{name: ping, kind: mock, response: 1}]\n"
    )
    assert shape_findings(subject) == []


def test_a_config_that_cannot_be_read_is_not_missing(tmp_path: Path) -> None:
    assert shape_findings(document(tmp_path, "template: workflow\n", config_yaml="tools: [\n")) == []


def test_an_environment_file_that_cannot_be_read_has_no_missing_template(tmp_path: Path) -> None:
    assert shape_findings(document(tmp_path, "template: [\n")) == []


def test_a_key_that_is_no_text_never_passes() -> None:
    assert not task_validator()({"instruction": "x", 3: 4})  # type: ignore[dict-item]
    assert not is_sound("task", {"instruction": "x", 3: 4})


def test_a_task_that_is_right_has_no_faults() -> None:
    assert task_validator()({"instruction": "Ping."})
    assert task_shape({"instruction": "Ping."}) == []


@pytest.fixture
def spell_check(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
    """A primitive as a package would bring it, whose options nobody has described yet."""
    module = ModuleType("spell_check")
    own = members("rollout.verifiers")
    monkeypatch.setattr(contract, "members", lambda package: (*own, "spell_check"))
    monkeypatch.setattr(contract, "member", lambda package, name: module)
    caches = (contract.schema, compiled, compiled_list, explainer)
    for cache in caches:
        cache.cache_clear()
    yield module
    for cache in caches:
        cache.cache_clear()


def spelt(**options: object) -> list[str]:
    value = {
        "template": "workflow",
        "config": {"tools": [MOCK]},
        "verifier": {"primitives": [{"name": "spelt", "type": "spell_check"} | options]},
    }
    return [fault.slug for fault in faults("environment", value)]


def test_a_primitive_of_an_installed_package_takes_the_options_it_describes(spell_check: ModuleType) -> None:
    spell_check.OPTIONS = {  # type: ignore[attr-defined]
        "properties": {"language": {"description": "A language.", "type": "string"}},
        "required": ["language"],
    }
    assert spelt(language="nb", weight=2, **{"x-note": "ours"}) == []
    assert spelt() == ["missing-key"]
    assert spelt(language=5) == ["wrong-type"]
    assert spelt(language="nb", langage="nb") == ["unknown-key"]
    assert spelt(type="spel_check", language="nb") == ["not-allowed"]


def test_a_primitive_that_describes_no_options_takes_none(spell_check: ModuleType) -> None:
    assert spelt() == []
    assert spelt(language="nb") == ["unknown-key"]


def test_when_the_validators_disagree_nothing_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("rollout.check.schema.explain", lambda *_, **__: [])
    [fault] = faults("task", {"instruction": 5})
    assert (fault.slug, fault.route) == ("malformed-value", ("instruction",))
    assert words(fault)[0] == '5 is not what the schema takes: 5 is not of type "string".'


def test_a_template_schema_stands_alone() -> None:
    assert is_sound("workflow", {"tools": [MOCK]})
    assert is_sound("sql", {"schema": "CREATE TABLE t (id INTEGER)"})
    assert not is_sound("sql", {"schema": "CREATE TABLE t (id INTEGER)", "sede": ""})


@pytest.mark.parametrize("name", ["workflow", "custom", "code-editing", "browser", "sql"])
def test_a_config_can_be_held_against_its_template_alone(name: str) -> None:
    found = faults(name, {"descripton": "A shop."})
    assert words(found[-1])[0] == "“descripton” is not a key of the config."
    needed = schema(name).get("required")
    assert any(words(fault)[0].startswith("The config has no ") for fault in found) is bool(needed)


@pytest.mark.parametrize(("template", "key"), [("browser", "pages"), ("code-editing", "files")])
def test_what_may_live_in_a_folder_must_be_in_one_of_the_two(tmp_path: Path, template: str, key: str) -> None:
    start = "  initialUrl: /\n" if template == "browser" else ""
    subject = document(tmp_path, f"template: {template}\nconfig:\n  description: A shop.\n{start}")
    assert slugs(shape_findings(subject)) == [("missing-key", ("config",))]
    (tmp_path / key).mkdir()
    (tmp_path / key / "a.html").write_text("<p>A page.</p>")
    subject = document(tmp_path, f"template: {template}\nconfig:\n  description: A shop.\n{start}")
    assert shape_findings(subject) == []


def test_a_value_with_endless_faults_is_explained_up_to_a_bound() -> None:
    zeros = faults("payload", {"environment": {"tasks": [0] * 100_000}, "verifier": None}, most=20)
    assert len(zeros) <= 20
    many = {f"k{number}": 1 for number in range(20_000)}
    assert len(faults("run", {"environmentSlug": "e", "model": "noop", "n": 1, **many}, most=20)) == 20
    assert len(faults("verifier", {"primitives": [many, many]}, most=20)) <= 24


@pytest.mark.parametrize(
    ("name", "value", "route"),
    [
        (
            "run",
            {"environmentSlug": "e", "model": "noop", "n": 1, "tasks": ["t"] * 5000 + [7]},
            ("tasks", 5000),
        ),
        (
            "code-editing",
            {"files": {**{f"f{n}": "" for n in range(5000)}, "last": 7}},
            ("files", "last"),
        ),
        (
            "custom",
            {"tools": [{"name": f"t{n}", "description": "d", "response": "r"} for n in range(500)] + [7]},
            ("tools", 500),
        ),
    ],
)
def test_the_one_fault_among_many_sound_parts_is_found(
    name: str, value: object, route: tuple[object]
) -> None:
    assert route in [fault.route for fault in faults(name, value)]
