"""The YAML and TOML that are written for people: readable, and never misread."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
import tomlkit
import yaml
from compile_strategies import TRICKY, objects, texts, values
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from rollout.compile.toml_text import write_toml
from rollout.compile.yaml_text import write_yaml

SHOWCASE: dict[str, Any] = {
    "slug": "refund-agent",
    "country": "no",
    "version": "1.20",
    "time": "12:30",
    "padded": " x ",
    "control": "bell \a and \u2028",
    "quote": 'say "hi"',
    "path": "orders.${args.order_id}",
    "prompt": "First line.\n  indented\n\nLast line.\n",
    "code": "def f():\n    return 'x'",
    "trailing": "two breaks\n\n",
    "empty": {"list": [], "map": {}, "text": ""},
    "params": {"order_id": "string", "amount": "number"},
    "rows": [{"id": "O-1", "amount": 100}, {"id": "O-2", "amount": 10.5}],
    "nested": [[1, 2], [{"deep": {"deeper": ["x" * 60, "y" * 60]}}]],
    "huge": 1e300,
    "tiny": 1e-7,
    "key with: colon": True,
}


def test_yaml_reads_well(snapshot: SnapshotAssertion) -> None:
    assert write_yaml(SHOWCASE) == snapshot


def test_toml_reads_well(snapshot: SnapshotAssertion) -> None:
    assert write_toml(SHOWCASE) == snapshot


def test_comments_stand_above_what_they_are_about(snapshot: SnapshotAssertion) -> None:
    value = {"tools": [{"name": "a", "kind": "mock", "response": 1}], "short": {"x": 1}}
    comments = {
        ("tools",): "All tools.\n\nTwo paragraphs.",
        ("tools", 0): "The first.",
        ("tools", 0, "response"): "Its answer.",
        ("short",): "Short.",
    }
    assert write_yaml(value, comments=comments) == snapshot(name="yaml")
    assert write_toml(value, comments=comments) == snapshot(name="toml")
    assert yaml.safe_load(write_yaml(value, comments=comments)) == value
    assert tomllib.loads(write_toml(value, comments=comments)) == value


@pytest.mark.parametrize("text", TRICKY, ids=ascii)
def test_every_tricky_text_survives_in_every_position(text: str) -> None:
    for value in (text, [text], {"k": text}, {text: 1}, {"k": [{text: text}]}, [[text]]):
        assert yaml.safe_load(write_yaml(value)) == value
    for table in ({"k": text}, {text: 1}, {"k": [{text: text}]}, {"k": {"k": {text: [text]}}}):
        assert tomllib.loads(write_toml(table)) == table


@settings(max_examples=150, deadline=None)
@given(values)
def test_any_value_survives_yaml(value: Any) -> None:
    assert yaml.load(write_yaml(value), yaml.CSafeLoader) == value


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(texts, st.one_of(texts, st.integers(-(2**63), 2**63 - 1), objects), max_size=4))
def test_any_table_survives_toml_or_is_refused(table: dict[str, Any]) -> None:
    try:
        text = write_toml(table)
    except ValueError:
        assert "null" in json.dumps(table)
        return
    assert tomllib.loads(text) == table
    assert tomlkit.parse(text).unwrap() == table


@pytest.mark.parametrize("value", [None, 2**63, -(2**63) - 1])
def test_toml_refuses_what_it_cannot_say(value: Any) -> None:
    with pytest.raises(ValueError, match="TOML has no"):
        write_toml({"k": [{"deep": value}]})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), "\ud800", object()])
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(ValueError):
        write_yaml({"k": value})
    with pytest.raises(ValueError):
        write_toml({"k": value})
