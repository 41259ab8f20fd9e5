"""random:SEED: every call it makes is valid, and the same seed makes the same calls."""

from __future__ import annotations

import asyncio
import json
import re
from random import Random
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.models import ModelError, Request, RolloutKey, Sampling, Turn, UnknownModelError, connect
from rollout.models._drawing import Drawing
from rollout.models._pattern import draw_match
from rollout.templates import Tool

SCHEMAS: dict[str, dict[str, Any]] = {
    "nothing": {"type": "object"},
    "texts": {
        "type": "object",
        "required": ["id", "code", "mail", "day"],
        "properties": {
            "id": {"type": "string", "minLength": 12, "maxLength": 14},
            "code": {"type": "string", "pattern": "^[A-Z]{2}-\\d{3,5}(x|yz)?$"},
            "mail": {"type": "string", "format": "email"},
            "day": {"type": "string", "format": "date"},
        },
        "additionalProperties": False,
    },
    "numbers": {
        "type": "object",
        "required": ["n", "x", "step", "below"],
        "properties": {
            "n": {"type": "integer", "minimum": 3, "exclusiveMaximum": 5},
            "x": {"type": "number", "exclusiveMinimum": 0, "maximum": 1},
            "step": {"type": "integer", "multipleOf": 7, "minimum": 50, "maximum": 60},
            "below": {"type": "integer", "maximum": -5},
        },
    },
    "choices": {
        "type": "object",
        "required": ["a", "b", "c", "d"],
        "properties": {
            "a": {"enum": ["x", 2, None]},
            "b": {"const": {"deep": [1]}},
            "c": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "d": {
                "oneOf": [{"type": "string", "maxLength": 3}, {"type": "array", "items": {"type": "boolean"}}]
            },
        },
    },
    "lists": {
        "type": "object",
        "required": ["tags", "pair"],
        "properties": {
            "tags": {"type": "array", "items": {"enum": ["a", "b", "c"]}, "minItems": 3, "uniqueItems": True},
            "pair": {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "minItems": 2,
            },
        },
    },
    "a tree": {
        "type": "object",
        "required": ["root"],
        "properties": {"root": {"$ref": "#/$defs/node"}},
        "$defs": {
            "node": {
                "type": "object",
                "required": ["name", "below"],
                "properties": {
                    "name": {"type": ["string", "null"]},
                    "below": {"type": "array", "items": {"$ref": "#/$defs/node"}},
                },
                "additionalProperties": False,
            }
        },
    },
    "parts": {
        "allOf": [
            {"type": "object", "required": ["a"], "properties": {"a": {"type": "integer"}}},
            {"required": ["b"], "properties": {"b": {"type": "boolean"}}},
        ],
        "minProperties": 3,
    },
}


def request(schema: dict[str, Any], *, trial: int = 0, turns: int = 0, said: str = "Refund O-77.") -> Request:
    messages = [{"role": "user", "content": said}]
    messages += [{"role": "assistant", "content": "", "tool_calls": []}] * turns
    return Request(messages, (Tool("ping", "", schema),), Sampling(), RolloutKey("desk", "task", trial))


def respond(asked: Request, seed: int = 1) -> Turn:
    return asyncio.run(connect(f"random:{seed}").respond(asked))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", SCHEMAS)
def test_every_call_is_valid(name: str) -> None:
    for trial in range(40):
        turn = respond(request(SCHEMAS[name], trial=trial))
        assert [call.tool for call in turn.calls] == ["ping"]
        jsonschema.validate(json.loads(turn.calls[0].arguments), SCHEMAS[name])


def test_the_same_rollout_is_the_same_again_and_another_is_another() -> None:
    drawn = [respond(request(SCHEMAS["texts"], trial=trial)) for trial in (0, 0, 1)]
    assert drawn[0] == drawn[1] != drawn[2]
    assert respond(request(SCHEMAS["texts"]), seed=2) != drawn[0]


def test_it_stops_some_time() -> None:
    turns = [respond(request(SCHEMAS["nothing"], turns=number)) for number in range(1, 60)]
    ended = [turn for turn in turns if not turn.calls]
    assert 0 < len(ended) < 30
    assert {turn.text for turn in ended} == {"That is all."}


def test_names_of_things_that_were_said_are_tried() -> None:
    schema = {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}}
    drawn = {respond(request(schema, trial=trial)).calls[0].arguments for trial in range(20)}
    assert '{"id":"O-77"}' in drawn


def test_a_tool_that_takes_nothing_is_the_environments_fault() -> None:
    with pytest.raises(ModelError, match="For none of the tools valid arguments could be drawn") as caught:
        respond(request({"type": "object", "required": ["a"], "properties": {"a": False}}))
    assert caught.value.charged_to == "environment"


@pytest.mark.parametrize("model_id", ["random:", "random:x", "random:1.5", "random/1", "random:" + "9" * 30])
def test_a_seed_that_is_no_number_is_refused(model_id: str) -> None:
    with pytest.raises(UnknownModelError, match="has no seed"):
        connect(model_id)


@pytest.mark.parametrize(
    "pattern",
    [
        "^a+b*?[^x-z]$",
        r"(\w)-\1",
        "(?i)abc|de{2,3}",
        r"^\d{4}-\d\d$",
        "^$",
        "a.c",
        "[^a]",
        r"\S\s\D\W",
        "(?>ab)+",
    ],
)
def test_a_text_is_drawn_for_a_pattern(pattern: str) -> None:
    for seed in range(30):
        drawn = draw_match(pattern, Random(seed))
        assert drawn is not None
        assert re.search(pattern, drawn)


@pytest.mark.parametrize("pattern", ["(?=a)b", "(", "a{99999999}", "(?<!x)y"])
def test_a_pattern_that_cannot_be_drawn_for_gives_none(pattern: str) -> None:
    assert draw_match(pattern, Random(0)) is None


_plain = st.recursive(
    st.sampled_from(
        [{}, True, {"type": "string"}, {"type": "integer"}, {"type": ["null", "boolean"]}, {"enum": [1]}]
    ),
    lambda inner: st.one_of(
        st.builds(lambda items: {"type": "array", "items": items}, inner),
        st.builds(
            lambda of: {"type": "object", "properties": of, "required": list(of)},
            st.dictionaries(st.text(max_size=3), inner, max_size=3),
        ),
        st.builds(lambda branches: {"anyOf": branches}, st.lists(inner, min_size=1, max_size=3)),
    ),
    max_leaves=6,
)


@settings(max_examples=60, deadline=None)
@given(_plain, st.integers(0, 5))
def test_what_is_drawn_for_a_plain_schema_is_valid(schema: Any, seed: int) -> None:
    jsonschema.validate(Drawing(Random(seed), schema).value(), schema)
