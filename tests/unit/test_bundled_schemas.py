"""What `rollout schema` prints is whole: a stock validator without network judges by it as the checkout's files do."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from jsonschema_rs import Draft202012Validator as FastValidator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from rollout.check import check
from rollout.compile import compile_environment
from rollout.source import read
from rollout.source.contract import bundled, schema, schema_names, schema_text, templates

ROOT = Path(__file__).parent.parent.parent
FOLDERS = sorted(path for path in (ROOT / "environments").iterdir() if path.is_dir())
FILES = [json.loads(schema_text(name)) for name in schema_names()]
NOTHING: Registry[Any] = Registry()
SIBLINGS: Registry[Any] = NOTHING.with_resources(
    [(told["$id"], DRAFT202012.create_resource(told)) for told in FILES]
)


def values(folder: Path) -> Iterator[tuple[str, Any]]:
    """All that an example environment has, each with the name of the schema that describes it."""
    [document] = read(folder)
    value = document.value
    yield "environment", value
    for key, name in (("config", value["template"]), ("verifier", "verifier")):
        if key in value:
            yield name, value[key]
    yield from (("task", record.value) for record in islice(document.tasks.read([]), 3))
    yield "payload", json.loads(compile_environment(check(document).environment()).data)


def broken(value: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The value with each of its keys, and of the first things in it, left out or replaced by what fits nowhere."""
    for key, each in value.items():
        yield {name: other for name, other in value.items() if name != key}
        yield {**value, key: 7.5}
        if isinstance(each, dict):
            yield from ({**value, key: inner} for inner in broken(each))
        elif isinstance(each, list) and each and isinstance(each[0], dict):
            yield from ({**value, key: [inner, *each[1:2]]} for inner in broken(each[0]))


def found(validator: Draft202012Validator, value: Any) -> list[str]:
    return sorted(f"{error.json_path}: {error.message}" for error in validator.iter_errors(value))


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_bundled_and_apart_say_the_same_of_an_example_environment(folder: Path) -> None:
    faults = 0
    for name, value in values(folder):
        alone = Draft202012Validator(bundled(name), registry=NOTHING)
        apart = Draft202012Validator(schema(name), registry=SIBLINGS)
        fast = FastValidator(bundled(name))
        assert found(alone, value) == []
        for wrong in islice(broken(value), 0, 60, 10):
            told = found(alone, wrong)
            assert told == found(apart, wrong)
            assert fast.is_valid(wrong) is (told == [])
            faults += len(told)
    assert faults > 0


@pytest.mark.parametrize("name", schema_names())
def test_a_bundled_schema_is_one_itself(name: str) -> None:
    Draft202012Validator.check_schema(bundled(name))


@pytest.mark.parametrize("name", schema_names())
def test_every_reference_in_a_bundled_schema_ends_in_it(name: str) -> None:
    whole = bundled(name)
    addresses = {whole["$id"], *whole.get("$defs", {})}
    resolver = NOTHING.with_resource(whole["$id"], DRAFT202012.create_resource(whole)).crawl()
    for base, reference in references(whole, ""):
        target = resolver.resolver(base).lookup(reference)
        assert base in addresses and target.contents is not None


def references(part: Any, base: str) -> Iterator[tuple[str, str]]:
    """Every `$ref`, with the address of the schema that it stands in."""
    if isinstance(part, dict):
        base = part.get("$id", base) if isinstance(part.get("$id", base), str) else base
        if isinstance(part.get("$ref"), str):
            yield base, part["$ref"]
        part = list(part.values())
    for each in part if isinstance(part, list) else ():
        yield from references(each, base)


def test_a_schema_that_refers_to_no_other_is_as_its_file() -> None:
    assert bundled("task") == schema("task")


def test_the_environment_s_schema_brings_every_template_s() -> None:
    brought = set(bundled("environment")["$defs"])
    assert {schema(name)["$id"] for name in templates()} <= brought
