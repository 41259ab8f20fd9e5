"""Expressions of a tool: what they come to, in which order, and what the loops in them may go over."""

from __future__ import annotations

import json
import subprocess
import sys
from datetime import UTC, datetime
from typing import Any

import pytest

from rollout.language.cel import (
    TOOL_ROOTS,
    ConditionError,
    Facts,
    MalformedConditionError,
    OverworkedError,
    parse,
)
from rollout.language.interpolation import ROOM
from rollout.language.room import Room, weight

SCOPE: dict[str, Any] = {
    "args": {"ids": ["b", "a", "b"], "n": 3, "name": "ÅSE"},
    "state": {
        "orders": {"a": {"total": 10, "tags": ["x"]}, "b": {"total": 2.5, "tags": []}},
        "days": ["2026-02-01T00:00:00Z", "2026-03-02T00:00:00Z"],
        "many": {letter: number for number, letter in enumerate("qwertyuiopasdfgh")},
    },
    "task": {"input": {"who": "Kim"}},
    "vars": {"order": {"total": 10}},
}


def value_of(text: str) -> Any:
    return parse(text, TOOL_ROOTS).value(SCOPE)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("state.orders[args.ids[1]]", {"total": 10, "tags": ["x"]}),
        ("vars.order.total + args.n", 13),
        ("abs(-2.5)", 2.5),
        ("calculate('1 + 2') / 2.0", 1.5),
        ("lower(args.name)", "åse"),
        ("args.name.lower()", "åse"),
        ("merge(vars.order, {'total': 1, 'new': null})", {"total": 1, "new": None}),
        ("object(args.ids.map(id, [id, state.orders[id].total]))", {"a": 10, "b": 2.5}),
        ("range(args.n).map(i, i * 2)", [0, 2, 4]),
        ("range(0)", []),
        ("round(2.675, 2)", 2.68),
        ("round(-0.5)", -1.0),
        ("round(1.0 / 3.0, 0)", 0.0),
        ("sort(args.ids)", ["a", "b", "b"]),
        ("sort([2, 1.5, -1])", [-1, 1.5, 2]),
        ("sum([1, 2, 3])", 6),
        ("sum([1, 2.5])", 3.5),
        ("sum([])", 0),
        ("entries(state.orders).map(each, each.key)", ["a", "b"]),
        ("entries(state.orders).filter(each, each.value.total > 5).map(each, each.key)", ["a"]),
        ("args.ids.filter(id, args.ids.filter(other, other == id).size() > 1)", ["b", "b"]),
        ("args.ids.map(id, id != 'a', id + '!')", ["b!", "b!"]),
        ("[args.ids.all(id, id in state.orders), args.ids.exists_one(id, id == 'a')]", [True, True]),
        ("has(args.nothing) ? args.nothing : [1, {'k': 'a, (b'}]", [1, {"k": "a, (b"}]),
        ("size('a, b)'.map(x, x)) == 0 || true", True),
        ("state.days.map(d, timestamp(d)).exists(t, t > timestamp('2026-03-01T00:00:00Z'))", True),
        ("size([timestamp('2026-03-01T00:00:00Z')].map(x, x))", 1),
        ("[timestamp('2026-03-01T00:00:00Z')].filter(x, true).map(x, x.getFullYear())", [2026]),
        ("size([duration('1s')].map(x, {'for': [x, 'a']}))", 1),
        ("[b'a'].filter(x, true).map(x, string(x))", ["a"]),
    ],
)
def test_what_an_expression_comes_to(text: str, value: Any, capfd: pytest.CaptureFixture[str]) -> None:
    assert value_of(text) == value
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("sum(['1'])", "“sum” takes a list of numbers."),
        ("sum([true])", "“sum” takes a list of numbers."),
        ("sum(1, 2)", "“sum” takes a list of numbers."),
        ("sort([1, 'a'])", "“sort” takes a list of texts, or of numbers."),
        ("range(-1)", "“range” takes a whole number from 0 to 10000."),
        ("range(10001)", "“range” takes a whole number from 0 to 10000."),
        ("round(1.5, 20)", "“round” takes a number"),
        ("abs('1')", "“abs” takes a number."),
        ("object(['ab'])", "“object” takes a list of pairs of a name and a value."),
        ("object([[1, 2]])", "“object” takes a list of pairs of a name and a value."),
        ("merge({}, [])", "“merge” takes objects."),
        ("entries([])", "“entries” takes an object."),
        ("lower(1)", "“lower” takes a text."),
        ("true || sum('a') == 1 || sum(['a']) == 1", None),
        ("sum(['a']) == 1 || true", "“sum” takes a list of numbers."),
        ("1.0 / 0.0", "it comes to no finite number."),
        ("{1: 2}", "it makes an object whose keys are not all texts."),
        ("duration('1s')", "it comes to a time, a type or bytes"),
        ("args.ids.filter(id, id)", "two values in it do not go together"),
        ("args.ids.map(id, state.orders[id + 'c'])", "there is no “bc”."),
        ("state.orders[args.n]", "cannot be worked out: "),
        ("state.nothing.here", "there is no “nothing”."),
    ],
)
def test_what_an_expression_cannot_come_to(text: str, why: str | None) -> None:
    if why is None:
        assert value_of(text) is True
        return
    with pytest.raises(ConditionError) as caught:
        value_of(text)
    assert why in str(caught.value)


def test_a_fault_of_one_expression_is_not_held_against_the_next() -> None:
    facts = Facts(SCOPE)
    with pytest.raises(ConditionError):
        parse("sum(['a'])", TOOL_ROOTS).value(facts)
    assert parse("sum([1])", TOOL_ROOTS).value(facts) == 1


def test_an_object_is_gone_through_in_the_same_order_in_every_process() -> None:
    program = (
        "import json\nfrom rollout.language.cel import parse\n"
        "scope = {'state': {'m': {c: 1 for c in 'zqxwvjkabc'}}, 'args': {}, 'task': {}}\n"
        "texts = ['state.m.map(k, k)', 'state.m', 'state.m.filter(k, k > \"c\")', '{\"b\": state.m, \"a\": 1}']\n"
        "print(json.dumps([parse(text).value(scope) for text in texts]))\n"
    )
    said = {
        subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
        for _ in range(4)
    }
    assert len(said) == 1
    keys, *_ = json.loads(said.pop())
    assert keys == sorted("zqxwvjkabc")


def test_nothing_is_written_to_stderr_when_a_function_cannot_be_had(
    capfd: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(ConditionError):
        value_of("sum(['a']) + round('b')")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    "text",
    [
        "args.l.all(a, args.l.all(b, a == b))",
        "args.l.exists(a, args.l.exists(b, a > b))",
        "args.l.map(a, a)",
        "args.l.map(a, args.l)",
        "args.l.filter(a, true)",
        "args.l.all(a, a in args.l)",
        "range(10000).all(a, range(10000).all(b, a + b >= 0))",
        "range(10000).all(a, sum(range(10000)) > 0)",
        "range(10000).all(a, size(range(10000)) > 0) || true",
        "[args.t].all(t, args.l.all(b, size(t) > 0))",
        "range(10000).all(a, args.t.matches('x$'))",
        " + ".join(["args.t"] * 200) + " == ''",
        f"[args.t].all(t, {' + '.join(['t'] * 400)} == '')",
    ],
)
def test_an_expression_may_not_go_over_too_much(text: str) -> None:
    scope = {"args": {"l": [1] * 6_000, "t": "x" * 100_000}, "state": {}, "task": {}}
    with pytest.raises(OverworkedError, match="goes over too much"):
        parse(text).value(scope)


def test_expressions_of_one_call_share_what_they_may_go_over() -> None:
    scope = {"args": {"l": [1] * 300}, "state": {}, "task": {}, ROOM: Room()}
    condition = parse("args.l.all(a, args.l.all(b, a == b))")
    assert condition.holds(scope)
    with pytest.raises(OverworkedError):
        for _ in range(100):
            condition.holds(scope)


def test_patterns_are_found_anywhere_in_a_text_and_know_classes() -> None:
    scope = {"args": {"l": ["Zoë", "Ann"]}, "state": {}, "task": {}}
    assert parse(r"args.l.filter(a, a.matches('^\\pL+$') && matches(a, r'n\b'))").value(scope) == ["Ann"]


def test_loops_over_what_people_keep_are_fine() -> None:
    users = {f"u{n}": {"email": f"{n}@example.org", "about": "x" * 200} for n in range(300)}
    scope = {"args": {"email": "7@example.org"}, "state": {"users": users}, "task": {}}
    text = "entries(state.users).filter(user, user.value.email == args.email).map(user, user.key)"
    assert parse(text).value(scope) == ["u7"]


@pytest.mark.parametrize(
    "text", ["vars", "vars['a']", "size(vars) > 1", "counted(args.ids, 0)", "kept(1, 0)"]
)
def test_what_cannot_be_written(text: str) -> None:
    with pytest.raises(MalformedConditionError):
        parse(text, TOOL_ROOTS)


def test_vars_are_not_known_where_there_are_none() -> None:
    with pytest.raises(MalformedConditionError, match="“vars” is not known here"):
        parse("vars.total > 1")


def test_what_json_does_not_have_weighs_as_much_as_its_parts() -> None:
    days = [datetime(2026, 3, 1, tzinfo=UTC)] * 1_000
    assert weight(days) >= 8_000
    assert weight({"days": [days, "x" * 50_000]}) >= 58_000
