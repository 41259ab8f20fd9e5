from __future__ import annotations

import socket
from typing import Any

import pytest

from rollout.language.user_schema import MOST_FAULTS, UserSchemaError, compile_schema, schema_faults


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": {"a": {"$ref": "http://127.0.0.1:9/x.json"}}},
        {"properties": {"a": {"$ref": "file:///etc/hostname"}}},
        {"$id": "http://127.0.0.1:9/x", "properties": {"a": {"$ref": "y.json"}}},
        {"$schema": "http://127.0.0.1:9/dialect", "type": "object"},
    ],
)
def test_a_schema_never_leaves_its_document(schema: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "socket", None)
    with pytest.raises(UserSchemaError):
        compile_schema(schema)


@pytest.mark.parametrize(
    ("schema", "value", "words"),
    [
        ({"const": {"a": 1}}, "x", 'is "x"; it has to be {"a":1}'),
        ({"const": None}, True, "is true; it has to be null"),
        ({"properties": {"a": False}}, {"a": "O-1"}, 'is "O-1", but nothing may stand there'),
        ({"enum": [{"a": 1}, None]}, "x", 'is "x"; it has to be one of {"a":1}, null'),
        ({"type": ["string", "null"]}, 1, "is 1, a number; it has to be null or a text"),
        ({"additionalProperties": False}, {"a": 1, "b": 2}, "may not have “a”, “b”"),
        ({"maximum": 2**70}, 2**71, f"is {2**71}, which is above {2**70}"),
        ({"pattern": "^\\p{Lu}$"}, "x", 'is "x", which does not match “^\\p{Lu}$”'),
        ({"not": {}}, True, "is true, which “not” rules out"),
    ],
)
def test_faults_are_told_in_words_of_json(schema: dict[str, Any], value: object, words: str) -> None:
    compiled = compile_schema(schema)
    assert not compiled.is_valid(value)
    assert [fault.words for fault in compiled.faults(value)] == [words]


def test_a_pattern_that_backtracks_without_end_is_cut_off() -> None:
    compiled = compile_schema({"pattern": r"^(?:(?=a)(a|aa)+)+$"})
    assert not compiled.is_valid("a" * 60 + "!")
    assert "would not come to an end" in compiled.faults("a" * 60 + "!")[0].words


def test_a_schema_that_refers_to_itself_is_applied_once() -> None:
    compiled = compile_schema({"allOf": [{"$ref": "#"}], "properties": {"a": {"type": "string"}}})
    assert [fault.path for fault in compiled.faults({"a": 1})] == [("a",)]


def test_a_schema_that_doubles_itself_over_and_over_is_refused() -> None:
    steps: dict[str, Any] = {f"s{n}": {"allOf": [{"$ref": f"#/$defs/s{n + 1}"}] * 2} for n in range(40)}
    with pytest.raises(UserSchemaError, match="repeat each other"):
        compile_schema({"$ref": "#/$defs/s0", "$defs": {**steps, "s40": {}}})


def test_only_so_many_faults_are_told() -> None:
    assert len(compile_schema({"items": False}).faults(list(range(10_000)))) == MOST_FAULTS


def test_integers_are_compared_exactly() -> None:
    assert not compile_schema({"const": 2**64}).is_valid(2**64 + 1)


def test_a_schema_is_held_against_the_draft_that_it_names() -> None:
    old = {"$schema": "http://json-schema.org/draft-04/schema#", "minimum": 5, "exclusiveMinimum": True}
    assert schema_faults(old) == []
    assert not compile_schema(old).is_valid(5)
    assert [fault.path for fault in schema_faults({**old, "$schema": "urn:other"})] == [("exclusiveMinimum",)]
