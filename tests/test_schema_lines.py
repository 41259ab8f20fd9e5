"""Every file that names its schema in its first line satisfies it by itself, so that no editor flags what is right."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from rollout.compile.scaffold import scaffold
from rollout.source.contract import schema_names, schema_text, templates
from rollout.source.formats import read_data

ROOT = Path(__file__).parent.parent
LINE = re.compile(r"(?:# yaml-language-server: \$schema=|#:schema )(\S+)")
SHIPPED = [json.loads(schema_text(name)) for name in schema_names()]
REGISTRY: Registry[Any] = Registry().with_resources(
    [(told["$id"], DRAFT202012.create_resource(told)) for told in SHIPPED]
)
FORMS = {
    f"{template}{'-toml' if toml else ''}{'-one-file' if one_file else ''}": (template, toml, one_file)
    for template in templates()
    for toml in (False, True)
    for one_file in (False, True)
}


def named_schema(path: Path) -> str | None:
    """The address that an editor finds in the first line, or in a JSON file under ``$schema``."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".json":
        value = json.loads(text)
        return value.get("$schema") if isinstance(value, dict) else None
    line = LINE.match(text)
    return line[1] if line else None


def flagged(path: Path) -> list[str]:
    """What an editor would underline in a file; empty where the file names no schema."""
    address = named_schema(path)
    if address is None:
        return []
    problems: list[Any] = []
    parsed = read_data(path, path.name, problems)
    assert parsed is not None and problems == []
    validator = Draft202012Validator({"$ref": address}, registry=REGISTRY)
    return [f"{error.json_path}: {error.message}" for error in validator.iter_errors(parsed.value)]


def structured(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*") if path.suffix in (".yaml", ".toml", ".json"))


@pytest.mark.parametrize("form", FORMS)
def test_no_editor_flags_a_file_of_a_scaffold(form: str, tmp_path: Path) -> None:
    template, toml, one_file = FORMS[form]
    files = scaffold(template, slug="desk", name="Desk", toml=toml, one_file=one_file)
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert any(map(named_schema, structured(tmp_path)))
    assert {path.name: found for path in structured(tmp_path) if (found := flagged(path))} == {}


@pytest.mark.parametrize(
    "folder",
    sorted(path for path in (ROOT / "environments").iterdir() if path.is_dir()),
    ids=lambda path: path.name,
)
def test_no_editor_flags_a_file_of_an_example_environment(folder: Path) -> None:
    assert {path.name: found for path in structured(folder) if (found := flagged(path))} == {}


def test_what_is_wrong_is_flagged(tmp_path: Path) -> None:
    path = tmp_path / "verifier.toml"
    path.write_text(f"#:schema {SHIPPED[schema_names().index('verifier')]['$id']}\nprimitive = []\n")
    assert any("'primitives' is a required property" in found for found in flagged(path))
