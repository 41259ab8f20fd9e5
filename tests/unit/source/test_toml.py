"""The TOML reader agrees with tomllib on every value, and knows where each stands."""

from __future__ import annotations

import math
import tomllib
from datetime import date, datetime, time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rollout.source.place import Parsed, Place, Problem
from rollout.source.text import SourceFile
from rollout.source.toml import parse
from rollout.source.yaml import parse as parse_yaml

SPEC_EXAMPLE = '''\
# A comment
title = "TOML Example"
site."google.com" = true
3.14159 = "pi"

[owner]
name = 'Tom "Preston" Werner'
dob = 1979-05-27T07:32:00-08:00 # First class dates
local = 1979-05-27 07:32:00.999999999
day = 1979-05-27
hour = 07:32:00

[database]
enabled = true
ports = [ 8000, 8001, 8002, ]
data = [ ["delta", "phi"], [3.14] ]
temp_targets = { cpu = 79.5, case.inner = 72.0 }
hex = 0xDEAD_BEEF
oct = 0o755
bin = 0b1101
big = 1_000_000
exp = 5e+22
minus = -0.01
text = """
Roses are "red" \\
   Violets are \\u03B4 ""\\t
"""
raw = \'\'\'
C:\\Users\\nodejs \'\'quoted\'\'\'\'\'

[servers.alpha]
ip = "10.0.0.1"

[servers]
role = "all"

[[products]]
name = "Hammer"

[[products]]

[[products]]
name = "Nail"
  [products.size]
  mm = 3
  [[products.variety]]
  name = "steel"
  [[products.variety]]
  name = "brass"
'''


class Moment:
    """A date or time, equal to each text that writes it."""

    def __init__(self, value: date | time) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, str):
            return NotImplemented
        read = tomllib.loads(f"moment = {other}")["moment"]
        return type(read) is type(self.value) and bool(read == self.value)

    def __hash__(self) -> int:
        return hash(self.value)


def as_written(value: Any, text: Any) -> Any:
    """``value`` with each date and time as it stands in ``text``, where that writes it."""
    if isinstance(value, Moment):
        return text if value == text else value.value.isoformat()
    if isinstance(value, dict) and isinstance(text, dict):
        return {key: as_written(item, text.get(key)) for key, item in value.items()}
    if isinstance(value, list) and isinstance(text, list) and len(value) == len(text):
        return [as_written(item, other) for item, other in zip(value, text, strict=True)]
    return value


def read(text: str) -> tuple[Parsed | None, list[Problem]]:
    problems: list[Problem] = []
    return parse(SourceFile(Path("a.toml"), "a.toml", text), problems), problems


def expected(text: str) -> Any:
    """tomllib's value as JSON would hold it; None where tomllib refuses the text."""
    try:
        return as_json(tomllib.loads(text))
    except (ValueError, RecursionError):
        return None


def as_json(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: as_json(item) for key, item in value.items()}
    if isinstance(value, list):
        return [as_json(item) for item in value]
    if isinstance(value, date | datetime | time):
        return Moment(value)
    if isinstance(value, float) and not math.isfinite(value):
        return 0
    return value


def scalars(value: Any, place: Place) -> list[tuple[Any, Place]]:
    if isinstance(value, dict):
        assert isinstance(place.children, dict)
        assert list(place.children) == list(value)
        return [pair for key in value for pair in scalars(value[key], place.children[key])]
    if isinstance(value, list):
        assert isinstance(place.children, list)
        assert len(place.children) == len(value)
        return [
            pair for item, child in zip(value, place.children, strict=True) for pair in scalars(item, child)
        ]
    return [(value, place)]


def assert_same_as_tomllib(text: str) -> None:
    parsed, problems = read(text)
    value = expected(text)
    refused = [problem for problem in problems if problem.slug != "bad-number"]
    if value is None:
        assert refused, text
        return
    assert parsed is not None, (text, problems)
    assert refused == []
    assert parsed.value == value
    written = as_written(value, parsed.value)
    assert repr(parsed.value) == repr(written)  # tells 1 from 1.0 and True, and keeps the order
    for scalar, place in scalars(parsed.value, parsed.place):
        again = expected(f"x = {place.source.text[place.start : place.end]}")
        assert again == {"x": scalar}


def test_the_examples_of_the_specification_read_as_tomllib_reads_them() -> None:
    assert_same_as_tomllib(SPEC_EXAMPLE)
    assert_same_as_tomllib(SPEC_EXAMPLE.replace("\n", "\r\n"))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "\n\r\n # nothing\n",
        "a=1",
        "a = 1\r\nb = 2\r\n",
        "'' = 1",
        '"" = 1',
        "a.'b.c'.d = 1",
        " a . b = 1 ",
        "[ a . b ]\nc=1",
        "[a.b]\nx=1\n[a]\ny=2",
        "[a.b.c]\nx=1\n[a]\nb.y=2\nb.z=3",
        "a.b=1\na.c=2",
        "[a]\nb.c=1\n[a.b.d]\ne=1",
        "[[a.b]]\n[[a.b]]\n[a]\nc=1",
        "[[a]]\n[a.b]\n[[a]]\n[a.b]\n",
        "[[a]]\n[[a.b]]\nx=1\n[[a.b]]\nx=2\n[[a]]\n[[a.b]]\nx=3",
        'a = """"""',
        'a = """""x"""""',
        "a = ''''''",
        "a = '''''x'''''",
        'a = """\r\nx\r\ny\\\r\n  z"""',
        'a = """x\\  \n\n\n   y"""',
        'a = "\\b\\t\\n\\f\\r\\"\\\\\\u00e9\\U0001F600"',
        "a = [\n # one\n 1, # two\n\n 2\n]",
        "a = {}",
        "a = { b = {c = 1}, d.e = 2, d.f = 3 }",
        "a = [{b=1}, {b=[{c=2}]}]",
        "a = +0\nb = -0\nc = +1.5\nd = -0.0\ne = 1E6\nf = 6.02e-23",
        "a = 00:00:00\nb = 23:59:59.1234567",
        "a = 1979-05-27t07:32:00z",
        "a = 0xff\nb = 0o17\nc = 0b1_0",
        "é = 1",
        '"é" = "\u2028\x85"',
        "1 = 1\n-1 = 2\n-_ = 3",
        "a = 9223372036854775808",
        "a = 2024-02-29",
    ],
)
def test_a_valid_document_reads_as_tomllib_reads_it(text: str) -> None:
    assert_same_as_tomllib(text)


@pytest.mark.parametrize(
    ("text", "kind", "line", "column"),
    [
        ("a", "no-equals", 1, 1),
        ("a b = 1", "no-equals", 1, 1),
        ("a =", "no-value", 1, 4),
        ("a = \nb = 1", "no-value", 1, 5),
        ("= 1", "no-key", 1, 1),
        ("a. = 1", "no-key", 1, 4),
        ("[a", "unclosed-header", 1, 1),
        ("[[a]", "unclosed-header", 1, 1),
        ("[]", "no-key", 1, 2),
        ("[a] b = 1", "text-after-value", 1, 5),
        ("a = 1 b = 2", "text-after-value", 1, 7),
        ("a = 'x", "unclosed-string", 1, 5),
        ("a = 'x\ny'", "line-break-in-string", 1, 5),
        ('a = """x', "unclosed-string", 1, 5),
        ('a = "\\q"', "bad-escape", 1, 6),
        ('a = "\\u12"', "short-code-point", 1, 6),
        ('a = "\\ud800"', "no-code-point", 1, 6),
        ('a = "\x01"', "control-character", 1, 6),
        ("a = 1 # \x01", "control-character", 1, 9),
        ("a = 1\rb = 2", "control-character", 1, 6),
        ("a = [1", "unclosed-array", 1, 5),
        ("a = [1 2]", "no-comma-in-array", 1, 8),
        ("a = [,]", "no-value", 1, 6),
        ("a = {b=1", "unclosed-table", 1, 5),
        ("a = {b=1,}", "comma-before-brace", 1, 9),
        ("a = {\nb=1}", "line-break-in-table", 1, 5),
        ("a = {b=1 c=2}", "no-comma-in-table", 1, 10),
        ("a = hello", "bad-value", 1, 5),
        ("a = 012", "bad-value", 1, 5),
        ("a = 1__0", "bad-value", 1, 5),
        ("a = 1.", "bad-value", 1, 5),
        ("a = .5", "bad-value", 1, 5),
        ("a = True", "bad-value", 1, 5),
        ("a = 2023-02-30", "no-such-date", 1, 5),
        ("a = 1979-05-27 07:32", "bad-value", 1, 5),
        ('"""a""" = 1', "no-equals", 1, 1),
        ("a = " + "9" * 5000, "number-too-long", 1, 5),
        ("a = " + "[" * 101 + "]" * 101, "too-deep", 1, 104),
        ("a = " + "{a=" * 101 + "1" + "}" * 101, "too-deep", 1, 302),
        (".".join("a" * 101) + " = 1", "too-deep", 1, 1),
        ("[" + ".".join("a" * 101) + "]", "too-deep", 1, 1),
    ],
)
def test_what_is_no_toml_is_a_problem_at_its_place(text: str, kind: str, line: int, column: int) -> None:
    parsed, problems = read(text)
    assert parsed is None
    slug = kind if kind in ("control-character", "too-deep") else "toml-syntax"
    assert [(problem.slug, problem.facts.get("kind", kind)) for problem in problems] == [(slug, kind)]
    assert (problems[0].span.line, problems[0].span.column) == (line, column)


@pytest.mark.parametrize(
    ("text", "key", "first", "second"),
    [
        ("a = 1\na = 2", "a", "1:1", "2:1"),
        ("[a]\n[b]\n[a]", "a", "1:2", "3:2"),
        ("a = 1\n[a]", "a", "1:1", "2:2"),
        ("a = 1\na.b = 2", "a", "1:1", "2:1"),
        ("a.b = 1\n[a]", "a", "1:1", "2:2"),
        ("a = {}\n[a.b]", "a", "1:1", "2:2"),
        ("a = []\n[[a]]", "a", "1:1", "2:3"),
        ("a = [{}]\n[a.b]", "a", "1:1", "2:2"),
        ("[[a]]\n[a]", "a", "1:3", "2:2"),
        ("[a]\n[[a]]", "a", "1:2", "2:3"),
        ("[a.b]\nx=1\n[a]\nb.y=2", "b", "1:4", "4:1"),
        ("a = {b = 1, b = 2}", "b", "1:6", "1:13"),
        ("a = {b.c = 1, b = 2}", "b", "1:6", "1:15"),
        ("a = {b = {c=1}, b.d = 2}", "b", "1:6", "1:17"),
        ("[t]\n[[t.a]]\n[t.a]\nx=1", "a", "2:5", "3:4"),
    ],
)
def test_a_key_given_twice_names_both_places(text: str, key: str, first: str, second: str) -> None:
    parsed, problems = read(text)
    assert parsed is not None
    assert expected(text) is None
    assert [problem.slug for problem in problems] == ["duplicate-key"]
    facts = problems[0].facts
    assert facts["key"] == key
    assert str(facts["first"]) == f"a.toml:{first}"
    assert str(problems[0].span) == f"a.toml:{second}"


@pytest.mark.parametrize("text", ["inf", "-inf", "+nan", "nan", "1e999"])
def test_a_number_that_json_does_not_have_is_a_problem(text: str) -> None:
    parsed, problems = read(f"a = {text}\nb = 1")
    assert parsed is not None
    assert parsed.value == {"a": 0, "b": 1}
    assert [(p.slug, p.facts["written"]) for p in problems] == [("bad-number", text)]


def test_every_table_array_and_key_has_its_place() -> None:
    text = "x.y = 1\n[a]\nb = {c = [1, 2]}\n[[d]]\n[[d]]\ne = 3\n[f.g]\n"
    parsed, problems = read(text)
    assert parsed is not None and not problems

    def at(*route: str | int) -> tuple[str, str]:
        place, taken = parsed.place.nearest(route)
        assert taken == len(route)
        key = text[place.key_start : place.key_end] if place.key_start >= 0 else ""
        return key, text[place.start : place.end]

    assert at("x") == ("x", "x.y")
    assert at("x", "y") == ("y", "1")
    assert at("a") == ("a", "[a]")
    assert at("a", "b") == ("b", "{c = [1, 2]}")
    assert at("a", "b", "c") == ("c", "[1, 2]")
    assert at("a", "b", "c", 1) == ("", "2")
    assert at("d") == ("d", "[[d]]")
    assert at("d", 1) == ("", "[[d]]")
    assert at("d", 1, "e") == ("e", "3")
    assert at("f") == ("f", "[f.g]")
    assert at("f", "g") == ("g", "[f.g]")


def test_a_header_that_comes_after_its_sub_table_takes_the_place_over() -> None:
    parsed, _ = read("[a.b]\n[a]\n")
    assert parsed is not None
    place = parsed.place.child("a")
    assert place is not None
    assert str(place.span("key")) == "a.toml:2:2"


@pytest.mark.parametrize(
    "moment",
    [
        "2024-01-02T03:04:05.120Z",
        "2024-01-02 03:04:05z",
        "2024-01-02t03:04:05.1234567-07:30",
        "2024-01-02T03:04:05+00:00",
        "2024-01-02",
        "03:04:05.000",
    ],
)
def test_a_moment_is_the_text_that_was_written_as_in_yaml(moment: str) -> None:
    parsed, problems = read(f"at = {moment} # when\nall = [{moment}]\n")
    in_yaml: list[Problem] = []
    source = SourceFile(Path("a.yaml"), "a.yaml", f"at: {moment} # when\nall: [{moment}]\n")
    same = parse_yaml(source, in_yaml)
    assert parsed is not None and same is not None and (problems, in_yaml) == ([], [])
    assert parsed.value == same.value == {"at": moment, "all": [moment]}


# Generated documents

KEYS = st.sampled_from(["a", "b", "c", "'q k'", '"\\u0061"', "a.b", "b . c", "a.b.c", "1", "é", '""'])
INTEGERS = st.integers(-(2**64), 2**64).map(str) | st.sampled_from(
    ["0x1F", "0o7_7", "0b1", "1_0", "01", "+0"]
)
FLOATS = st.floats(allow_nan=False).map(repr) | st.sampled_from(["1e5", "1.5_0", "1.", "-nan"])
MOMENTS = (
    st.datetimes().map(lambda d: d.isoformat())
    | st.dates().map(lambda d: d.isoformat())
    | st.times().map(lambda t: t.isoformat())
    | st.sampled_from(["1979-05-27 07:32:00Z", "1979-05-27T00:32:00.5-07:30", "2023-02-29", "24:00:00"])
)
STRINGS = st.builds(
    lambda body, quote: f"{quote}{body}{quote}",
    st.text("ab\"'\\u0041n \n\r\té\x00#=", max_size=12),
    st.sampled_from(['"', "'", '"""', "'''"]),
)
SCALARS = st.one_of(INTEGERS, FLOATS, MOMENTS, STRINGS, st.sampled_from(["true", "false", "yes", ""]))
GAPS = st.sampled_from(["", " ", "\n", " # c\n", "\t"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.builds(
            lambda items, gap: f"[{gap}{(',' + gap).join(items)}{gap}]", st.lists(inner, max_size=3), GAPS
        )
        | st.builds(
            lambda pairs: "{" + ", ".join(f"{key} = {value}" for key, value in pairs) + "}",
            st.lists(st.tuples(KEYS, inner), max_size=3),
        )
    ),
    max_leaves=6,
)
STATEMENTS = st.one_of(
    st.builds(lambda key, value: f"{key} = {value}", KEYS, VALUES),
    st.builds(lambda key: f"[{key}]", KEYS),
    st.builds(lambda key: f"[[{key}]]", KEYS),
    st.sampled_from(["", "# comment", "  ", "x", "[", "]"]),
)
DOCUMENTS = st.builds(
    lambda lines, ending: ending.join(lines),
    st.lists(STATEMENTS, max_size=8),
    st.sampled_from(["\n", "\r\n"]),
)
HEADERS = st.lists(
    st.builds(
        lambda kind, key: kind.format(key),
        st.sampled_from(["[{}]", "[[{}]]", "{} = 1", "{} = [{{}}]", "{} = {{}}"]),
        st.lists(st.sampled_from("ab"), min_size=1, max_size=3).map(".".join),
    ),
    max_size=7,
).map("\n".join)


@settings(max_examples=300, deadline=None)
@given(DOCUMENTS)
def test_generated_documents_read_as_tomllib_reads_them(text: str) -> None:
    assert_same_as_tomllib(text)


@settings(max_examples=400, deadline=None)
@given(HEADERS)
@example("[a.a]\n[a]\na.b = 1\n[a.a.b]")
def test_tables_are_opened_and_closed_as_in_tomllib(text: str) -> None:
    assert_same_as_tomllib(text)


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_a_valid_document_with_one_character_changed_is_judged_as_tomllib_judges_it(
    data: st.DataObject,
) -> None:
    at = data.draw(st.integers(0, len(SPEC_EXAMPLE) - 1))
    put = data.draw(
        st.sampled_from(["", "[", "]", '"', "'", "\\", ".", ",", "\n", "\r", "#", "=", "{", "}", "0", "_"])
    )
    cut = data.draw(st.integers(0, 2))
    assert_same_as_tomllib(SPEC_EXAMPLE[:at] + put + SPEC_EXAMPLE[at + cut :])


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_random_text_is_refused_or_read_and_never_raises(text: str) -> None:
    assert_same_as_tomllib(text)
