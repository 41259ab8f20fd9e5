"""Reading the calls a model makes: nothing is guessed at, and what is wrong is told in a sentence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollout.engine.toolbox import DEEPEST, BadCallError, Toolbox, read_arguments
from rollout.models import Call
from rollout.templates import TemplateError, Tool

NODE = {
    "type": "object",
    "properties": {"node": {"$ref": "#/$defs/node"}},
    "required": ["node"],
    "$defs": {
        "node": {
            "type": "object",
            "properties": {
                "name": {"type": "string"},
                "next": {"anyOf": [{"$ref": "#/$defs/node"}, {"type": "null"}]},
            },
            "required": ["name"],
        }
    },
}
TOOLBOX = Toolbox(
    [
        Tool(
            "refund",
            parameters={
                "type": "object",
                "properties": {"amount": {"type": "number"}},
                "required": ["amount"],
            },
        ),
        Tool("walk", parameters=NODE),
        Tool("anything"),
    ]
)


def read(tool: str, arguments: str) -> dict[str, Any]:
    return TOOLBOX.read(Call("call_1", tool, arguments))


@pytest.mark.parametrize("text", ["", "  \n", "null", "{}", " {} \n", '{}""', '{}" "', "{}''"])
def test_no_arguments_are_an_empty_object(text: str) -> None:
    assert read("anything", text) == {}


@pytest.mark.parametrize(
    "text",
    [
        "yes", "12:30", "a: b", "{'a': 1}", '{"a":1', '{"a":1}{"a":1}', '{"a":1} and more', "NaN", '{"a": NaN}',
        '{"a": 1e999}', "[]", '"{}"', "3", "true", '{"a": "\\ud800"}',
    ],
)  # fmt: skip
def test_what_is_no_json_object_is_an_error_for_the_model(text: str) -> None:
    with pytest.raises(
        BadCallError, match=r"^The arguments (are not JSON|have to be a JSON object)"
    ) as caught:
        read("anything", text)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    "text", ['{"a": 1, "a": 2}', '{"a": [{"b": null, "\\u0062": 2}]}', '{"a":1,"b":2,"a":1}""']
)
def test_which_of_two_equal_keys_is_meant_is_not_guessed(text: str) -> None:
    with pytest.raises(BadCallError, match=r"^The key \"[ab]\" comes twice in the arguments"):
        read("anything", text)
    assert read("anything", '{"a": {"a": {"a": 1}}, "b": [{"a": 1}, {"a": 1}]}')


def test_arguments_may_only_be_nested_so_deep() -> None:
    def nested(depth: int) -> str:
        return '{"a":' * depth + "1" + "}" * depth

    assert read("anything", nested(DEEPEST))
    for depth in (DEEPEST + 1, 900, 5_000):
        with pytest.raises(BadCallError, match="nested deeper than"):
            read("anything", nested(depth))
    with pytest.raises(BadCallError, match="nested deeper than"):
        read("anything", "[" * 100_000)


def test_a_whole_number_is_a_number_and_a_text_is_none() -> None:
    assert read("refund", '{"amount": 100}') == {"amount": 100}
    with pytest.raises(BadCallError, match='“amount” is "100", a text; it has to be a number') as caught:
        read("refund", '{"amount": "100"}')
    assert caught.value.arguments == {"amount": "100"}


def test_a_recursive_schema_is_checked_to_its_depths() -> None:
    fine = {"node": {"name": "a", "next": {"name": "b", "next": None}}}
    assert read("walk", json.dumps(fine)) == fine
    with pytest.raises(BadCallError, match=r"“node\.next”"):
        read("walk", json.dumps({"node": {"name": "a", "next": {"name": 1}}}))


def test_only_the_first_faults_are_told() -> None:
    toolbox = Toolbox([Tool("many", parameters={"type": "object", "required": [f"p{n}" for n in range(30)]})])
    with pytest.raises(BadCallError, match=r"“p2” is missing\. And 27 more\.$"):
        toolbox.read(Call("call_1", "many", "{}"))


def test_an_unknown_tool_is_answered_with_the_known_ones() -> None:
    with pytest.raises(
        BadCallError, match=r"Did you mean “refund”.*The tools are: refund, walk, anything"
    ) as caught:
        read("refunds", '{"amount": 1}')
    assert caught.value.arguments == {"amount": 1}


def test_a_tool_that_only_begins_alike_is_not_said_to_be_meant() -> None:
    with pytest.raises(BadCallError, match=r"“get_order”\. The tools are: get_fare, get_booking\.$"):
        Toolbox([Tool("get_fare"), Tool("get_booking")]).read(Call("call_1", "get_order", "{}"))


@pytest.mark.parametrize(
    "parameters",
    [
        {"type": "nonsense"},
        {"type": "object", "properties": {"a": {"$ref": "#/$defs/none"}}},
        {"type": "object", "properties": {"a": {"$ref": "http://127.0.0.1:9/schema.json"}}},
        {"type": "object", "properties": {"a": {"pattern": "("}}},
    ],
)
def test_a_schema_that_is_none_is_the_environments_fault_and_fetches_nothing(
    parameters: dict[str, Any],
) -> None:
    with pytest.raises(TemplateError, match="“broken”"):
        Toolbox([Tool("broken", parameters=parameters)])


def test_a_pattern_that_backtracks_without_end_is_cut_off() -> None:
    toolbox = Toolbox(
        [Tool("match", parameters={"type": "object", "properties": {"a": {"pattern": r"^(?=(a+)+$)\1b"}}})]
    )
    with pytest.raises(BadCallError):
        toolbox.read(Call("call_1", "match", json.dumps({"a": "a" * 5000 + "!"})))


@given(st.text(max_size=30))
def test_any_text_is_arguments_or_an_error(text: str) -> None:
    try:
        assert isinstance(read_arguments(text), dict)
    except BadCallError as error:
        assert str(error).startswith("The arguments")


@given(
    st.dictionaries(
        st.text(), st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(), max_size=5
    )
)
def test_a_json_object_is_read_as_it_is(value: dict[str, Any]) -> None:
    assert read_arguments(json.dumps(value)) == value


def test_whole_numbers_past_64_bits_stay_exact() -> None:
    assert read_arguments('{"id": 18446744073709551617}') == {"id": 2**64 + 1}
    assert read_arguments('{"id": -9223372036854775809}""') == {"id": -(2**63) - 1}
