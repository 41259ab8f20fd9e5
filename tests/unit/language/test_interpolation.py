"""``${…}``: what is a placeholder, what is not, and what it is filled with."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rollout.language.interpolation import MalformedError, SegmentError, UnresolvedError, as_text, prepare
from rollout.language.placeholders import parse, spots

SCOPE = {
    "args": {
        "id": "O-1",
        "amount": 100.0,
        "tags": ["a", {"b": None}],
        "none": None,
        "yes": True,
        "empty": "",
    },
    "state": {"cart": [1, 2], "secret": "s3cret"},
    "fixtures": {"orders": {"a.b": "dotted"}},
    "task": {"input": {"customer": "Alice"}},
}


def fill(value: Any) -> Any:
    return prepare(value)(SCOPE)


@pytest.mark.parametrize("name", SCOPE["args"])
def test_a_whole_placeholder_keeps_the_type_of_the_value(name: str) -> None:
    value = fill(f"${{args.{name}}}")
    assert value == SCOPE["args"][name]
    assert type(value) is type(SCOPE["args"][name])


@pytest.mark.parametrize(
    ("text", "filled"),
    [
        ("order ${args.id}", "order O-1"),
        ("${args.amount} euros", "100 euros"),
        ("is ${args.none}, ${args.yes}, ${args.empty}.", "is null, true, ."),
        ("tags: ${args.tags}", 'tags: ["a",{"b":null}]'),
        ("${args.tags[1]}${args.tags[0]}", '{"b":null}a'),
        ("${state.cart.length} items", "2 items"),
        ('${fixtures.orders["a.b"]}', "dotted"),
        ("for ${task.input.customer}", "for Alice"),
        ("$${args.id} costs $5 and $$", "${args.id} costs $5 and $$"),
        ("$$${args.id}", "$${args.id}"),
        ('{"a": 1} \\frac{1}{2} {{x}} {x}', '{"a": 1} \\frac{1}{2} {{x}} {x}'),
    ],
)
def test_inside_a_text_a_value_is_written_as_text(text: str, filled: str) -> None:
    assert fill(text) == filled


def test_keys_are_filled_too() -> None:
    assert fill({"by ${args.id}": {"n": ["${args.amount}"]}}) == {"by O-1": {"n": [100]}}


def test_what_was_filled_in_is_not_looked_at_again() -> None:
    scope = {**SCOPE, "args": {"note": "${state.secret} $${x} {{7*7}}"}}
    assert prepare("note: ${args.note}")(scope) == "note: ${state.secret} $${x} {{7*7}}"
    assert prepare("${args.note}")(scope) == "${state.secret} $${x} {{7*7}}"


def test_a_filled_value_shares_nothing_with_the_scope_or_the_spec() -> None:
    spec = {"kept": [1], "cart": "${state.cart}"}
    fills = prepare(spec)
    first = fills(SCOPE)
    first["kept"].append(2)
    first["cart"].append(3)
    assert fills(SCOPE) == {"kept": [1], "cart": [1, 2]}


def test_a_missing_value_is_named() -> None:
    with pytest.raises(UnresolvedError, match=r"\$\{args\.nope\}") as caught:
        fill("a ${args.nope}")
    assert caught.value.placeholder.start == 2


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("a ${", 2, 4),
        ("${args.x", 0, 2),
        ("${args.x\n}", 0, 2),
        ("${}", 0, 3),
        ("${ }", 0, 4),
        ("${foo.bar}", 0, 10),
        ("${order_id}", 0, 11),
        ("${args..x}", 7, 8),
        ("${args.x[}", 8, 9),
        ("${ args.x }", 2, 7),
        ("${args.${x}}", 0, 11),
        ("${task.id}", 0, 10),
        ("${task.hidden_ground_truth}", 0, 27),
        ("x ${args.list[]}", 13, 15),
    ],
)
def test_what_is_malformed_is_a_fault_at_its_place_and_never_filled(text: str, start: int, end: int) -> None:
    faults = parse(text).faults
    assert [(fault.start, fault.end) for fault in faults] == [(start, end)]
    assert faults[0].message and faults[0].hint
    with pytest.raises(MalformedError):
        prepare(["fine", text])


def test_every_fault_of_a_text_is_told() -> None:
    assert [fault.start for fault in parse("${} ${args.a} ${b} ${").faults] == [0, 14, 19]


def test_spots_are_found_in_values_and_keys() -> None:
    value = {"a": ["x", "${args.p}"], "${args.q}": {"n": "${"}}
    found = [(spot.route, spot.is_key, len(spot.interpolation.faults)) for spot in spots(value)]
    assert found == [(("a", 1), False, 0), (("${args.q}",), True, 0), (("${args.q}", "n"), False, 1)]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


@given(JSON)
def test_any_value_comes_back_from_a_whole_placeholder_and_as_json_from_a_text(value: Any) -> None:
    scope = {"args": {"x": value}}
    assert prepare("${args.x}")(scope) == value
    text = prepare("<${args.x}>")(scope)
    assert text == f"<{as_text(value)}>"
    assert isinstance(value, str) or json.loads(text[1:-1]) == value


@given(st.text(alphabet='${}abrgs.[]"\\\n ', max_size=24))
def test_any_text_is_parsed_and_accounted_for(text: str) -> None:
    parsed = parse(text)
    for fault in parsed.faults:
        assert 0 <= fault.start <= fault.end <= len(text)
    for placeholder in parsed.placeholders:
        assert text[placeholder.start : placeholder.end] == placeholder.text


@given(st.text(max_size=24))
def test_escaping_every_dollar_brace_gives_the_text_back(text: str) -> None:
    assert prepare(text.replace("${", "$${"))({}) == text


def test_a_path_in_brackets_is_one_step_whatever_is_in_it() -> None:
    scope = {
        "args": {"id": "a.b", "n": 1, "ids": ["a.b"], "path": "a", "whole": {}},
        "state": {"orders": {"a.b": {"rows": [{"x": 1}, {"x": 2}]}, "a": {"b": 3}}, "which": "a.b"},
    }
    for text, value in {
        "${state.orders[args.id].rows[args.n].x}": 2,
        "${state.orders[args.ids[0]].rows.length}": 2,
        "${state.orders[state.which].rows[0]}": {"x": 1},
        "x${state.orders[args.path].b}": "x3",
        '${state.orders["a.b"].rows[args.n]}': {"x": 2},
    }.items():
        assert prepare(text)(scope) == value
    for text in ("${state.orders[args.id].rows[args.id]}", "${state.orders[args.none]}", "${state[args.id]}"):
        with pytest.raises(UnresolvedError):
            prepare(text)(scope)
    with pytest.raises(SegmentError, match="is an object, not a name"):
        prepare("${state.orders[args.whole]}")(scope)


def test_what_was_filled_into_brackets_is_not_looked_at_again() -> None:
    scope = {
        "args": {"id": "${state.secret}"},
        "state": {"secret": "s", "m": {"${state.secret}": "${args.id}"}},
    }
    assert prepare("${state.m[args.id]}")(scope) == "${args.id}"


def test_a_quoted_key_may_look_like_a_path() -> None:
    assert prepare('${state["a[args.x]"]}')({"state": {"a[args.x]": 1}, "args": {"x": 2}}) == 1


@pytest.mark.parametrize(
    "text",
    ["${state.a[args.]}", "${state.a[args.x}", "${state.a[argh.x]}", "${state.a[task.id]}", "${[args.x]}"],
)
def test_a_path_in_brackets_has_to_be_one(text: str) -> None:
    assert parse(text).faults


def test_the_paths_in_brackets_are_known_with_what_stands_before_them() -> None:
    (placeholder,) = parse("${state.a.b[args.ids[state.n]].c}").placeholders
    assert placeholder.steps == ("a", "b")
    assert [each.text for each in placeholder.inner] == ["${args.ids[state.n]}", "${state.n}"]


def test_a_line_of_unclosed_placeholders_has_one_fault_and_the_next_line_its_own() -> None:
    faults = parse("${" * 50_000 + "\n${args.}").faults
    assert [fault.start for fault in faults][:1] == [0]
    assert len(faults) == 2


def test_so_many_faults_are_told_of_one_text() -> None:
    assert len(parse("${}" * 5_000).faults) == 100
