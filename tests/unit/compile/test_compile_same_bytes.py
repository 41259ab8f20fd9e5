"""Same meaning, same bytes: YAML, TOML, one file, a spread folder, platform JSON and Python."""

from __future__ import annotations

import json
from pathlib import Path
from pprint import pformat
from typing import Any

import pytest
from compile_strategies import environments
from hypothesis import HealthCheck, given, settings
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from rollout import Environment
from rollout.check import check
from rollout.check.report import environment_in
from rollout.compile.payload import Compiled, compile_environment
from rollout.compile.scaffold import scaffold
from rollout.compile.spread import spread
from rollout.compile.wire import read_wire
from rollout.source import read_one
from rollout.source.contract import schema, schema_names, templates

ROOT = Path(__file__).parents[3]
EXAMPLES = sorted(path.parent for path in (ROOT / "environments").glob("*/environment.*"))


def compiled_at(path: Path) -> Compiled:
    return compile_environment(environment_in(read_one(path)))


def write(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("x", encoding="utf-8", newline="") as file:
            file.write(text)
    return folder


def as_python(environment: Environment) -> str:
    """The environment as a Python file, every value as a literal."""
    arguments = {
        key: getattr(environment, key)
        for key in ("slug", "name", "template", "description", "schema", "seed", "config", "verifier")
    }
    tasks = ",\n".join(
        f"Task({task.instruction!r}, {task.hidden_ground_truth!r}, {task.input!r}, {task.split!r}, id={task.id!r})"
        for task in environment.tasks
    )
    return (
        "from rollout import Environment, Task\n\n"
        f"tasks = [\n{tasks}\n]\n"
        f"env = Environment(tasks=tasks, **{pformat(arguments, sort_dicts=False)})\n"
    )


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_every_way_to_write_an_example_compiles_to_the_same_bytes(example: Path, tmp_path: Path) -> None:
    report = check(read_one(example))
    environment = report.environment()
    compiled = compile_environment(environment)
    payload = {"environment": compiled.environment, "verifier": compiled.verifier}
    for name, files in {
        "spread": spread(payload),
        "toml": spread(payload, toml=True),
        "one-file": spread(payload, one_file=True),
        "one-toml": spread(payload, one_file=True, toml=True),
    }.items():
        assert compiled_at(write(tmp_path / name, files)).data == compiled.data, name
    python = write(tmp_path / "python", {"env.py": as_python(environment)}) / "env.py"
    assert compiled_at(python).data == compiled.data
    wire = read_wire(compiled.data, "compiled.json")
    assert compile_environment(environment_in(wire.document)).data == compiled.data


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_an_unpacked_example_validates_like_the_example(example: Path, tmp_path: Path) -> None:
    compiled = compiled_at(example)
    files = spread({"environment": compiled.environment, "verifier": compiled.verifier})
    report = check(read_one(write(tmp_path / example.name, files)))
    # Solutions do not travel, which is all that may be missing.
    assert {found.slug for found in report.diagnostics} <= {"no-solution"}


def payload_validator() -> Draft202012Validator:
    contracts = [schema(name) for name in schema_names()]
    registry: Registry[Any] = Registry().with_resources(
        (contract["$id"], Resource.from_contents(contract)) for contract in contracts
    )
    return Draft202012Validator(schema("payload"), registry=registry)


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.name)
def test_what_an_example_compiles_to_fits_the_published_schema(example: Path) -> None:
    data = json.loads(compiled_at(example).data)
    assert [error.message for error in payload_validator().iter_errors(data)] == []


@pytest.mark.parametrize("template", templates())
def test_what_a_scaffold_compiles_to_fits_the_published_schema(template: str, tmp_path: Path) -> None:
    data = json.loads(compiled_at(write(tmp_path, scaffold(template, slug="s", name="S"))).data)
    assert [error.message for error in payload_validator().iter_errors(data)] == []


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(environment=environments())
def test_any_environment_survives_a_folder_in_every_form(
    environment: Environment, tmp_path_factory: pytest.TempPathFactory
) -> None:
    compiled = compile_environment(environment)
    payload = {"environment": compiled.environment, "verifier": compiled.verifier}
    for toml in (False, True):
        for one_file in (False, True):
            folder = tmp_path_factory.mktemp("any")
            write(folder, spread(payload, toml=toml, one_file=one_file))
            assert compiled_at(folder).data == compiled.data
    wire = read_wire(compiled.data, "compiled.json")
    assert wire.document.readable and wire.left_out == ()
    assert compile_environment(environment_in(wire.document)).data == compiled.data
