"""Conditions: what is true, what cannot be told, and where one that is malformed goes wrong."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.language.cel import LONGEST, ConditionError, Facts, MalformedConditionError, parse

SCOPE: dict[str, Any] = {
    "args": {"amount": 50, "name": "Åse😀", "ids": ["O-1"], "none": None},
    "state": {
        "cart": [{"sku": "a", "n": 2}, {"sku": "b", "n": 1}],
        "order": {"status": "delivered", "total": 100.0},
        "orders": {"O-1": {"open": True}},
        "empty": {},
        "big": 2**70,
    },
    "task": {"input": {"friend": "bo"}},
}


@pytest.mark.parametrize(
    "text",
    [
        'state.order.status == "delivered" && args.amount <= state.order.total',
        "size(args.name) == 4",
        "args.name.size() == 4 && size(state.cart) == 2 && size(state.order) == 2",
        'args.name != "size(" && size("é") == 1 && size(r"\\") == 1',
        "state.cart.exists(line, line.n == 1) && !state.cart.all(line, line.n == 1)",
        "state.cart.filter(line, line.n > 1).map(line, line.sku) == ['a']",
        "state.orders[args.ids[0]].open",
        '"O-1" in state.orders && !("O-2" in state.orders)',
        "!has(state.empty.key) && has(state.order.total)",
        "args.none == null && args.none != false",
        '1 == 1.0 && "1" != 1 && true != 1',
        "[1, 2] == [1.0, 2.0]",
        "state.empty.key == 1 || true",
        "!(state.empty.key == 1 && false)",
        "state.big > 5",
        '"2025-01-31" < "2025-02-01"',
        'args.name.matches("^.{4}$")',
        'task.input.friend == "bo" // a friend',
        "args.amount > 10 ? state.order.total == 100 : false",
    ],
)
def test_a_condition_that_is_true(text: str) -> None:
    assert parse(text).holds(SCOPE) is True
    assert parse(f"!({text.partition(' //')[0]})").holds(Facts(SCOPE)) is False


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("state.empty.key == 1", "there is no “key”."),
        ("state.empty.key == 1 || false", "there is no “key”."),
        ("state.cart[2].n == 1", "a list has no item of that number."),
        ("state.cart[-1].n == 1", "a list has no item of that number."),
        ("1 / 0 == 1", "it divides by zero."),
        ("args.name > 1", "two values in it do not go together"),
        ("args.amount * 1.5 > 1.0", "two values in it do not go together"),
        ("args.amount && true", "two values in it do not go together"),
        ("size(args.amount) > 1", "two values in it do not go together"),
        ("args.name.matches(args.name + '(')", "“matches” takes a text, and a pattern without look-ahead"),
        ("state.cart.exists(line, line.zip == 1)", "there is no “zip”."),
    ],
)
def test_what_cannot_be_told_is_never_true(text: str, why: str) -> None:
    with pytest.raises(ConditionError) as caught:
        parse(text).holds(SCOPE)
    assert f"“{text}” cannot be told: " in str(caught.value)
    assert why in str(caught.value)


@pytest.mark.parametrize("text", ["args.amount", "state.cart", "args.none", '""', "state.order.status"])
def test_what_is_neither_true_nor_false_is_an_error(text: str) -> None:
    with pytest.raises(ConditionError, match="neither true nor false"):
        parse(text).holds(SCOPE)


def test_what_the_scope_lacks_is_an_error() -> None:
    with pytest.raises(ConditionError):
        parse("task.input.friend == 'bo'").holds({"args": {}, "state": {}, "task": {}})


@pytest.mark.parametrize(
    ("text", "message", "shown"),
    [
        ("", "The condition is empty.", ""),
        ("state.open ==", "The condition ends too early.", "="),
        ("state.open and true", "“and” cannot stand here.", "and"),
        ("cart == []", "“cart” is not known here.", "cart"),
        ("state.cart.all(line, lien.n == 1)", "“lien” is not known here.", "lien"),
        ("max(1, 2) == 2", "There is no function “max”.", "max"),
        ("state.cart.lenght() == 2", "There is no function “lenght”.", "lenght"),
        ("state.open = true", "This is no condition from here on.", "="),
        ('state.name == "ada', "This is no condition from here on.", '"'),
        ("state.a == 1 &&\n  state.b b", "“b” cannot stand here.", "b"),
        ('"a".matches("(")', "This is no pattern that “matches” can use.", '"("'),
        ("state.a.matches('^(?=a)x') || true", "This is no pattern that “matches” can use.", "'^(?=a)x'"),
        (r"matches(state.a, r'(a)\1')", "This is no pattern that “matches” can use.", r"r'(a)\1'"),
        (
            r"state.a.matches('(\\pL{90}){90}')",
            "This is no pattern that “matches” can use.",
            r"'(\\pL{90}){90}'",
        ),
        (
            "state.a.all(x, state.b.all(y, state.c.all(z, x == y && y == z)))",
            "More than 2 loops stand inside one another here.",
            "all",
        ),
    ],
)
def test_a_malformed_condition_says_where(text: str, message: str, shown: str) -> None:
    with pytest.raises(MalformedConditionError) as caught:
        parse(text)
    assert caught.value.message == message
    assert text[caught.value.start : caught.value.end] == shown


@pytest.mark.parametrize(
    "text", ["(" * 900 + "true" + ")" * 900, "[" * 1_000, "!" * 5_000 + "true", "true" + " " * LONGEST]
)
def test_a_condition_of_no_sense_is_refused_and_does_no_harm(text: str) -> None:
    with pytest.raises(MalformedConditionError):
        parse(text)


@given(st.text(alphabet="abstate.crgs()[]{}\"'\\\n0123=&|!<>+-*/%?:, é😀", max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_is_a_condition_or_has_its_fault_inside_it(text: str) -> None:
    try:
        condition = parse(text)
    except MalformedConditionError as error:
        assert 0 <= error.start <= error.end <= len(text)
        return
    try:
        assert condition.holds(SCOPE) in (True, False)
    except ConditionError as error:
        assert str(error).endswith(".")


def test_a_condition_knows_what_it_cannot_do_without() -> None:
    text = 'size(state.cart) > 0 && (has(state.user) && state.user.open || task.input.st == "state.y") && args.n == 1'
    names = parse(text).names
    assert [(name.root, name.key) for name in names] == [("state", "cart"), ("task", "input"), ("args", "n")]
    assert [text[name.start : name.end] for name in names] == ["state.cart", "task.input", "args.n"]


def test_the_evaluator_is_loaded_for_the_first_condition_only_and_without_its_command_line() -> None:
    code = (
        "import sys\nfrom rollout.language.cel import parse\nassert 'cel' not in sys.modules\n"
        "parse('true')\nassert 'cel' in sys.modules\n"
        "assert not {'cel.cli', 'prompt_toolkit', 'typer'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
