"""YAML is read with its 1.2 meaning, every fault has a place, and the text at each place reads back to the value."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml as pyyaml
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rollout.source import yaml, yaml_events
from rollout.source.place import Parsed, Place, Problem
from rollout.source.text import SourceFile
from rollout.source.yaml_events import PureParser


def read(text: str) -> tuple[Parsed | None, list[Problem]]:
    problems: list[Problem] = []
    return yaml.parse(SourceFile(Path("x.yaml"), "x.yaml", text), problems), problems


def value_of(text: str) -> Any:
    parsed, problems = read(text)
    assert {problem.slug for problem in problems} <= {"yaml-surprise"}
    assert parsed is not None
    return parsed.value


def found(text: str) -> list[str]:
    """The problems in ``text`` as ``line:column slug [kind]``."""
    _, problems = read(text)
    return [
        " ".join(filter(None, (f"{p.span.line}:{p.span.column}", p.slug, p.facts.get("kind"))))
        for p in problems
    ]


def walk(value: Any, place: Place) -> Iterator[tuple[Any, Place]]:
    yield value, place
    if isinstance(value, dict):
        assert isinstance(place.children, dict)
        assert list(place.children) == list(value)
        for key, member in value.items():
            yield from walk(member, place.children[key])
    elif isinstance(value, list):
        assert isinstance(place.children, list)
        for member, child in zip(value, place.children, strict=True):
            yield from walk(member, child)
    else:
        assert place.children is None


def text_at(place: Place) -> str:
    """The text at a place, indented as it is in its file, so that it can be read on its own."""
    text = place.source.text
    written = text[place.start : place.end]
    line_start = text.rfind("\n", 0, place.start) + 1
    if written[:1] not in "|>" or not written:
        return " " * (place.start - line_start) + written
    # The indentation of a block scalar counts from the key or the dash before it.
    if place.key_start >= 0:
        return " " * (place.key_start - (text.rfind("\n", 0, place.key_start) + 1)) + "k: " + written
    if text[line_start : place.start].strip().endswith("-"):
        return " " * (text.rfind("-", 0, place.start) - line_start) + "- " + written
    return written


def reads_back(parsed: Parsed) -> None:
    for value, place in walk(parsed.value, parsed.place):
        text = text_at(place)
        again, problems = read(text)
        assert not [problem for problem in problems if problem.slug not in ("yaml-surprise", "empty-file")]
        seen = again.value if again is not None else None
        if text.lstrip(" ").startswith(("k: |", "k: >", "- |", "- >")) and not isinstance(value, list | dict):
            seen = seen["k"] if isinstance(seen, dict) else seen[0]
        assert seen == value
        assert type(seen) is type(value)
        if place.key_start >= 0:
            key = place.source.text[place.key_start : place.key_end]
            assert read(key)[0].value is not None  # type: ignore[union-attr]


CORE_SCHEMA: list[tuple[str, Any]] = [
    ("null", None),
    ("Null", None),
    ("NULL", None),
    ("~", None),
    ("nULL", "nULL"),
    ("true", True),
    ("True", True),
    ("TRUE", True),
    ("tRUE", "tRUE"),
    ("false", False),
    ("False", False),
    ("FALSE", False),
    ("y", "y"),
    ("n", "n"),
    ("0", 0),
    ("-0", 0),
    ("+12", 12),
    ("-7", -7),
    ("0o14", 12),
    ("0x1F", 31),
    ("-0x1F", "-0x1F"),
    ("0O14", "0O14"),
    ("0o8", "0o8"),
    ("1.", 1.0),
    (".5", 0.5),
    ("-.5", -0.5),
    ("0.10", 0.1),
    ("1e3", 1000.0),
    ("1E-2", 0.01),
    ("+1.5e+3", 1500.0),
    ("1e", "1e"),
    (".", "."),
    ("..", ".."),
    ("+", "+"),
    ("1.2.3", "1.2.3"),
    ("1,000", "1,000"),
    ("2024-01-31", "2024-01-31"),
    ("2024-01-31T10:00:00Z", "2024-01-31T10:00:00Z"),
    ("09:30", "09:30"),
    ("12a", "12a"),
    ("18446744073709551617", 18446744073709551617),
    ("٣", "٣"),
    ('"12"', "12"),
    ("'true'", "true"),
    ('"a\\u00e9\\U0001F600\\x41\\n\\t\\/\\e"', "aé😀A\n\t/\x1b"),
    ("'it''s'", "it's"),
    ("! 12", "12"),
    ("!!str 12", "12"),
    ("!!str", ""),
    ('!!int "12"', 12),
    ("!!float 1", 1.0),
    ("!!bool true", True),
    ("!!map {a: 1}", {"a": 1}),
    ("!!seq [a]", ["a"]),
    ("a b", "a b"),
    ("a#b", "a#b"),
    ("a #b", "a"),
    ("a:b", "a:b"),
    ("http://x.org/?a=b", "http://x.org/?a=b"),
    ("${args.x}", "${args.x}"),
    ("[a, 'b', 3, {c: d}, e: f]", ["a", "b", 3, {"c": "d"}, {"e": "f"}]),
    ("{a, b: , 'c': 1, \"d\":2}", {"a": None, "b": None, "c": 1, "d": 2}),
    ("&x 5", 5),
]


@pytest.mark.parametrize(("text", "value"), CORE_SCHEMA)
def test_a_scalar_has_its_core_schema_meaning(text: str, value: Any) -> None:
    for document in (text, f"a: {text}\n", f"- {text}\n", f"x:\n  - a: {text}\n    b: 1\n"):
        seen = value_of(document)
        while isinstance(seen, dict | list) and seen != value:
            seen = next(iter(seen.values())) if isinstance(seen, dict) else seen[0]
        assert seen == value
        assert type(seen) is type(value)


@pytest.mark.parametrize(
    ("text", "value", "elsewhere"),
    [
        ("012", 12, 10),
        ("-012", -12, -10),
        ("0755", 755, 493),
        ("09", 9, "09"),
        ("007", 7, 7),
        ("00", 0, 0),
        ("0o17", 15, "0o17"),
        ("1e3", 1000.0, "1e3"),
        ("1.5e3", 1500.0, "1.5e3"),
        ("-2E-3", -0.002, "-2E-3"),
        (".5e3", 500.0, ".5e3"),
        ("12:30", "12:30", 750),
        ("1:30:00", "1:30:00", 5400),
        ("-1:30", "-1:30", -90),
        ("1_000", "1_000", 1000),
        ("1_0.5", "1_0.5", 10.5),
        ("0x_ff", "0x_ff", 255),
        ("0b101", "0b101", 5),
        ("yes", "yes", True),
        ("No", "No", False),
        ("ON", "ON", True),
        ("off", "off", False),
    ],
)
def test_a_value_that_yaml_1_1_reads_otherwise_is_a_warning(text: str, value: Any, elsewhere: Any) -> None:
    parsed, problems = read(f"key: {text}\n")
    assert parsed is not None
    assert parsed.value == {"key": value}
    assert [(str(p.span), p.slug, p.facts["value"], p.facts["elsewhere"]) for p in problems] == [
        ("x.yaml:1:6", "yaml-surprise", value, elsewhere)
    ]
    assert pyyaml.safe_load(f"key: {text}\n") == {"key": elsewhere}


@pytest.mark.parametrize(
    "text",
    ["y", "n", "0", "1.0e+3", "1.5E-3", "2024-01-31", "09:30", "_", "a_1", "1_a", '"yes"', "0.5"],
)
def test_a_value_that_surprises_nobody_is_no_warning(text: str) -> None:
    assert found(f"key: {text}\n") == []


def test_keys_that_yaml_1_1_reads_otherwise_are_strings_without_a_warning() -> None:
    assert value_of("on: 1\nyes: 2\n12:30: 3\n1_000: 4\n") == {"on": 1, "yes": 2, "12:30": 3, "1_000": 4}


FAULTS: list[tuple[str, list[str]]] = [
    ("", ["1:1 empty-file"]),
    ("# only a comment\n", ["1:1 empty-file"]),
    ("---\n", ["1:1 empty-file"]),
    ("a: 1\nb:\n  c: 2\na: 3\n", ["4:1 duplicate-key"]),
    ("a: 1\n'a': 2\n\"a\": 3\n", ["2:1 duplicate-key", "3:1 duplicate-key"]),
    ("- {x: 1, x: 2}\n- {x: 1}\n", ["1:10 duplicate-key"]),
    ("404: x\n", ["1:1 non-string-key"]),
    ("a: {404: x}\nb: {404: y}\n", ["1:5 non-string-key", "2:5 non-string-key"]),
    ("'404': x\nb:\n  404: y\n", ["3:3 non-string-key"]),
    ("true: x\n", ["1:1 non-string-key"]),
    ("~: x\n", ["1:1 non-string-key"]),
    (": x\n", ["1:1 yaml-syntax no-key"]),
    ("1.5: x\n", ["1:1 non-string-key"]),
    ("? [a, b]\n: c\n", ["1:3 non-string-key"]),
    ("? {a: b}\n: c\n", ["1:3 non-string-key"]),
    ("x: {{ order }}\n", ["1:5 non-string-key"]),
    ("a: &x [1]\n*x : 2\n", ["2:1 non-string-key"]),
    ("a: !foo bar\n", ["1:4 unknown-tag"]),
    ("a: &x !foo bar\n", ["1:7 unknown-tag"]),
    ("a: !!python/object:os.system {x: 1}\n", ["1:4 unknown-tag"]),
    ("a: !!binary aGk=\n", ["1:4 unknown-tag"]),
    ("a: !!set {b}\n", ["1:4 unknown-tag"]),
    ("!foo k: 1\n", ["1:1 unknown-tag"]),
    ("a: !!int foo\n", ["1:4 tag-mismatch"]),
    ("a: !!bool yes\n", ["1:4 yaml-surprise word", "1:4 tag-mismatch"]),
    ("a: !!map foo\n", ["1:4 tag-mismatch"]),
    ("a: !!seq {b: 1}\n", ["1:4 tag-mismatch"]),
    ("a: *x\n", ["1:4 unknown-alias"]),
    ("a: &x [*x]\n", ["1:8 recursive-alias"]),
    ("a: &x\n  b: {c: *x}\n", ["2:10 recursive-alias"]),
    ("a: 1\n---\nb: 2\n", ["2:1 several-documents"]),
    ("---\n---\na: 1\n", ["2:1 several-documents"]),
    ("%YAML 1.1\n---\na: 1\n", ["1:1 yaml-surprise version"]),
    ("b: &b {x: 1}\nc:\n  <<: *b\n", ["3:3 merge-key"]),
    ("a: .inf\nb: -.INF\nc: .NaN\nd: 1e999\n", [f"{n}:4 bad-number" for n in (1, 2, 3, 4)]),
    ("a: " + "9" * 5000 + "\n", ["1:4 bad-number"]),
    ("a: 0x" + "F" * 4200 + "\n", ["1:4 bad-number"]),
    ("a: \x07\n", ["1:4 control-character"]),
    ("a: b\nc: 'x\x1b[1m'\n", ["2:6 control-character"]),
    ("\ta: 1\n", ["1:1 tab-indentation"]),
    ("a:\n\tb: 1\n", ["2:1 tab-indentation"]),
    ("a:\n  b: 1\n\tc: 2\n", ["3:1 tab-indentation"]),
    ("a: |\n\tfoo\n", ["2:1 tab-indentation"]),
    ("[" * 101 + "]" * 101, ["1:101 too-deep"]),
    ("[" * 5000, ["1:1001 too-deep"]),
    ("- " * 101 + "x", ["1:201 too-deep"]),
    # Syntax: where a person should look, not where the parser gave up
    ('a: "foo\nb: 1\n', ["1:4 yaml-syntax unclosed-quote"]),
    ("a: 'foo\nb: 1\n", ["1:4 yaml-syntax unclosed-quote"]),
    ('a: "foo\nb: "y"\n', ["1:4 yaml-syntax unclosed-quote"]),
    ("a: 'it's'\n", ["1:8 yaml-syntax text-after-quote"]),
    ('a: "x" y\n', ["1:8 yaml-syntax text-after-quote"]),
    ("a: [1, 2\nb: 3\n", ["1:4 yaml-syntax unclosed"]),
    ("a: {x: 1\nb: 3\n", ["1:4 yaml-syntax unclosed"]),
    ("a: [\n", ["1:4 yaml-syntax unclosed"]),
    ("a: {b: [1, 2}\n", ["1:13 yaml-syntax mismatch"]),
    ("a: [x, y]]\n", ["1:10 yaml-syntax extra-closer"]),
    ('a: ["x" "y"]\n', ["1:9 yaml-syntax missing-comma"]),
    ("{\n 'a': 1\n 'b': 2\n}\n", ["2:7 yaml-syntax missing-comma"]),
    ("a:\n  b: 1\n c: 2\n", ["3:2 yaml-syntax indentation"]),
    ("a:\n  - b: 1\n   c: d\n", ["3:4 yaml-syntax indentation"]),
    ("  a: 1\nb: 2\n", ["2:1 yaml-syntax indentation"]),
    ("a: 1\n  b: 2\n", ["2:3 yaml-syntax indented-below-value"]),
    ("a: x: y\n", ["1:4 yaml-syntax colon-in-text"]),
    ("description: Refunds: the basics\n", ["1:14 yaml-syntax colon-in-text"]),
    ("a: 1\nfoo\nb: 2\n", ["2:1 yaml-syntax missing-colon"]),
    ("a:b\nc: d\n", ["1:1 yaml-syntax missing-colon"]),
    ("x" * 1100 + ": 1\n", ["1:1 yaml-syntax long-key"]),
    ("a: @foo\n", ["1:4 yaml-syntax reserved-character"]),
    ("a: `x`\n", ["1:4 yaml-syntax reserved-character"]),
    ("a: %x\n", ["1:4 yaml-syntax reserved-character"]),
    ("%x\na: 1\n", ["1:1 yaml-syntax directive"]),
    ("a: *\n", ["1:4 yaml-syntax reference"]),
    ("a: & b\n", ["1:4 yaml-syntax reference"]),
    ("a: !e!foo x\n", ["1:4 yaml-syntax tag"]),
    ('a: "\\q"\n', ["1:5 yaml-syntax bad-escape"]),
    ('a: "b\\x1"\n', ["1:6 yaml-syntax bad-escape"]),
    ('a: "d\\ud83d\\ude00"\n', ["1:6 yaml-syntax surrogate-escape"]),
    ("- a\nb: 1\n", ["2:1 yaml-syntax key-among-items"]),
    ("a: 1\n- b\n", ["2:1 yaml-syntax item-among-keys"]),
    ("a: - b\n", ["1:4 yaml-syntax inline-list"]),
    ("a: ? b\n", ["1:4 yaml-syntax question-mark"]),
    ("a: |x\n  foo\n", ["1:4 yaml-syntax block-header"]),
    ("a: }\n", ["1:4 yaml-syntax unexpected"]),
    ("a: &x 1\nb: *x y\n", ["2:4 yaml-syntax text-after-alias"]),
    ("a: b\n...\nc: d\n", ["3:1 yaml-syntax after-end"]),
    ("<<<<<<< HEAD\na: 1\n=======\na: 2\n>>>>>>> x\n", ["1:1 yaml-syntax conflict"]),
]


@pytest.mark.parametrize(("text", "problems"), FAULTS, ids=lambda each: repr(each)[:40])
def test_a_fault_is_named_at_its_place(text: str, problems: list[str]) -> None:
    assert found(text) == problems


# libyaml alone refuses unknown directives, and looks ahead at brackets.
PURE_FAULTS = [each for each in FAULTS if not each[0].startswith(("%x", "[" * 5000))]


@pytest.mark.parametrize(("text", "problems"), PURE_FAULTS, ids=lambda each: repr(each)[:40])
def test_without_libyaml_a_fault_has_the_same_name_and_place(
    text: str, problems: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(yaml_events, "make_parser", PureParser)
    assert found(text) == problems


def test_all_problems_of_a_file_are_found_in_one_go() -> None:
    text = "a: 012\n5: x\na: !foo y\nb: *z\nc: .inf\nd: ok\n"
    parsed, problems = read(text)
    assert [problem.slug for problem in problems] == [
        "yaml-surprise",
        "non-string-key",
        "duplicate-key",
        "unknown-tag",
        "unknown-alias",
        "bad-number",
    ]
    assert parsed is not None
    assert parsed.value == {"a": 12, "5": "x", "b": None, "c": 0, "d": "ok"}


def test_a_duplicate_says_where_the_key_first_stood() -> None:
    _, problems = read("a: 1\nb: 2\na: 3\n")
    assert str(problems[0].facts["first"]) == "x.yaml:1:1"


def test_what_a_merge_key_brings_is_kept_so_that_nothing_seems_missing() -> None:
    parsed, _ = read("b: &b {x: 1, y: 2}\nc:\n  <<: *b\n  x: 3\nd:\n  <<: [*b, {z: 4}]\n")
    assert parsed is not None
    assert parsed.value["c"] == {"x": 3, "y": 2}
    assert parsed.value["d"] == {"x": 1, "y": 2, "z": 4}


def test_an_unquoted_placeholder_of_a_template_language_is_kept_as_text() -> None:
    parsed, problems = read("a: {{ order.id }}\nb: [{{ x }}]\n")
    assert parsed is not None
    assert parsed.value == {"a": "{{ order.id }}", "b": ["{{ x }}"]}
    assert [problem.slug for problem in problems] == ["non-string-key"] * 2
    assert parsed.place.child("a").children is None  # type: ignore[union-attr]


def test_an_alias_has_its_own_place_and_the_places_of_its_anchor_below() -> None:
    parsed, problems = read("a: &x\n  b: 1\nc: *x\n")
    assert problems == []
    assert parsed is not None
    assert parsed.value == {"a": {"b": 1}, "c": {"b": 1}}
    alias = parsed.place.child("c")
    assert alias is not None
    assert str(alias.span()) == "x.yaml:3:4"
    assert str(alias.span("key")) == "x.yaml:3:1"
    assert str(alias.child("b").span()) == "x.yaml:2:6"  # type: ignore[union-attr]


def test_aliases_may_stand_for_so_many_values_and_no_more() -> None:
    lines = ["a0: &a0 [" + "x," * 9 + "]"]
    lines += [f"a{n}: &a{n} [" + f"*a{n - 1}," * 9 + "]" for n in range(1, 12)]
    parsed, problems = read("\n".join(lines))
    assert parsed is None
    assert [(problem.slug, problem.span.line) for problem in problems] == [("expanding-aliases", 6)]
    assert found("\n".join(lines[:5])) == []


def test_aliases_cannot_be_deeper_than_what_is_written_out() -> None:
    lines = ["a0: &a0 " + "[" * 60 + "]" * 60, "a1: " + "[" * 60 + "*a0" + "]" * 60]
    assert found("\n".join(lines)) == ["2:65 too-deep"]


def test_after_a_thousand_errors_the_rest_is_not_read() -> None:
    parsed, problems = read("[" + "!foo a," * 5000 + "]")
    assert parsed is None
    assert len(problems) == yaml.MAX_PROBLEMS
    assert all(problem.span.text is problems[0].span.text for problem in problems)


def test_warnings_do_not_keep_a_file_from_being_read() -> None:
    parsed, problems = read("[" + "012," * 5000 + "]")
    assert parsed is not None
    assert parsed.value == [12] * 5000
    assert len(problems) == yaml.MAX_PROBLEMS


def test_a_value_of_hundred_levels_is_read() -> None:
    assert found("[" * 100 + "]" * 100) == []


def test_line_breaks_of_yaml_1_1_are_ordinary_characters() -> None:
    text = "a: x\u2028y\nb: 'p\u0085q'\nc: \"\u2029\"\nd\u2028: 1\ne: .inf\n"
    parsed, problems = read(text)
    assert parsed is not None
    assert parsed.value == {"a": "x\u2028y", "b": "p\u0085q", "c": "\u2029", "d\u2028": 1, "e": 0}
    assert [str(problem.span) for problem in problems] == ["x.yaml:5:4"]


def test_a_text_of_all_private_characters_is_read() -> None:
    everything = "".join(map(chr, (*range(0xE000, 0xF900), *range(0xF0000, 0xFFFFE))))
    assert value_of(f"'\u2028{everything}'") == f"\u2028{everything}"


def test_crlf_is_a_line_break() -> None:
    parsed, problems = read("a: |\r\n  x\r\n  y\r\nb: >-\r\n  p\r\n  q\r\nc: 'r\r\n  s'\r\nd: .inf\r\n")
    assert parsed is not None
    assert parsed.value == {"a": "x\ny\n", "b": "p q", "c": "r s", "d": 0}
    assert [(str(problem.span), problem.span.text) for problem in problems] == [("x.yaml:9:4", "d: .inf")]


HAND_MADE = """\
# A comment
plain: text  # behind
quoted: "a\\n\\"b\\""
'single': 'it''s'
"key with: colon": >-
  folded
  text

literal: |
  line one
    indented

  line two


keep: |+
  x

list:
- 1
- - a
  - b: c
    d: |2
       two more
-
  e:
flow: {a: [1, 2, {b: c}], "d":e, f, g: }
long: one
  two   # comment
? explicit
: value
empty:
tagged: !!str 12
anchored: &name {x: 1}
日本: "語😀"   # wide
nothing: ~
"""


@pytest.mark.parametrize(
    "text", [HAND_MADE, HAND_MADE.replace("\n", "\r\n"), "- a\n- |\n  b\n- c", "x", "'x'", "[a: 1 , b]"]
)
def test_the_text_at_each_place_reads_back_to_the_value(text: str) -> None:
    parsed, problems = read(text)
    assert problems == []
    assert parsed is not None
    reads_back(parsed)


def test_a_collection_ends_with_its_last_value() -> None:
    parsed, _ = read(HAND_MADE)
    assert parsed is not None
    at = {key: place.source.text[place.start : place.end] for key, place in parsed.place.children.items()}  # type: ignore[union-attr]
    assert at["literal"] == "|\n  line one\n    indented\n\n  line two\n"
    assert at["list"].endswith("\n-\n  e:")
    assert at["flow"] == '{a: [1, 2, {b: c}], "d":e, f, g: }'
    assert at["empty"] == ""
    assert at["tagged"] == "!!str 12"
    assert at["nothing"] == "~"


def test_the_garbage_collector_is_left_as_it_was() -> None:
    assert gc.isenabled()
    read("a: [")
    assert gc.isenabled()
    gc.disable()
    try:
        read("a: 1")
        assert not gc.isenabled()
    finally:
        gc.enable()


class Styled(pyyaml.SafeDumper):
    """Writes without aliases, and text of several lines as a block."""

    block: str | None = None

    def ignore_aliases(self, data: Any) -> bool:
        return True

    def represent_text(self, data: str) -> Any:
        style = self.block if "\n" in data else None
        return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)


Styled.add_representer(str, Styled.represent_text)

# What every style can hold: no control characters, and no line break but LF.
TEXT = st.text(
    st.characters(
        exclude_categories=("Cs", "Cc", "Cn", "Zl", "Zp"),
        include_characters="\n",
        exclude_characters="\ufeff",
    ),
    max_size=20,
)
WORD = st.sampled_from(
    [
        "yes",
        "no",
        "012",
        "1_000",
        "12:30",
        "null",
        "",
        "a: b",
        "- x",
        "#",
        "x #y",
        "'",
        '"',
        "|",
        "1e3",
        "0x1F",
        "<<",
        "é",
        "😀",
    ]
)
SCALAR = (
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT | WORD
)
VALUE = st.recursive(
    SCALAR,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT | WORD, inner, max_size=4),
    max_leaves=12,
)


@settings(max_examples=150, deadline=None)
@given(
    value=VALUE,
    style=st.sampled_from([None, "'", '"']),
    flow=st.sampled_from([True, False, None]),
    block=st.sampled_from([None, "|", ">"]),
    width=st.sampled_from([10, 80, 1000]),
    indent=st.sampled_from([2, 4, 7]),
    unicode=st.booleans(),
)
@example(value=["\n", " \n", "x\n\n"], style=None, flow=False, block="|", width=80, indent=2, unicode=True)
@example(value={"a": " x\ny"}, style=None, flow=False, block="|", width=80, indent=4, unicode=True)
def test_what_is_dumped_in_any_style_reads_back_at_every_place(
    value: Any,
    style: str | None,
    flow: bool | None,
    block: str | None,
    width: int,
    indent: int,
    unicode: bool,
) -> None:
    Styled.block = block
    text = pyyaml.dump(
        value,
        Dumper=Styled,
        default_style=style,
        default_flow_style=flow,
        width=width,
        indent=indent,
        allow_unicode=unicode,
        sort_keys=False,
    )
    parsed, problems = read(text)
    if any(problem.slug == "non-string-key" for problem in problems):
        return  # The dumper, of YAML 1.1, leaves text such as 1e3 unquoted.
    assert {problem.slug for problem in problems} <= {"yaml-surprise", "merge-key", "bad-number"}
    if parsed is None or problems:
        return
    reads_back(parsed)
    # Where lines are narrow the dumper breaks a text behind an escape, and does not read back itself what it wrote.
    if style is not None and pyyaml.safe_load(text) == value:
        assert parsed.value == value


@settings(max_examples=150, deadline=None)
@given(VALUE, st.sampled_from([None, "'", '"']), st.booleans())
def test_the_parser_in_python_gives_the_same_values_and_places(
    value: Any, style: str | None, flow: bool
) -> None:
    text = pyyaml.dump(value, Dumper=pyyaml.SafeDumper, default_style=style, default_flow_style=flow)
    outcomes = []
    native = yaml_events.make_parser
    for parser in (native, PureParser):
        yaml_events.make_parser = parser
        try:
            parsed, problems = read(text)
        finally:
            yaml_events.make_parser = native
        places = [] if parsed is None else [(v, p.start, p.end) for v, p in walk(parsed.value, parsed.place)]
        outcomes.append((places, problems))
    assert outcomes[0] == outcomes[1]


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *"ab:-?[]{},#&*!|>'\"%@`~<= \n\t\r\\",
            "\n  ",
            "- ",
            ": ",
            "? ",
            "---\n",
            "&a ",
            "*a",
            "<<: ",
            "!!int ",
            "\u2028",
            "\x85",
            "\x00",
            "é",
            "012",
            ".inf",
            '"\\ud800"',
            "\ufeff",
        ]
    ),
    max_size=30,
).map("".join)


@settings(max_examples=400, deadline=None)
@given(FRAGMENTS | st.text(max_size=40))
def test_no_text_raises_and_each_gives_a_value_or_a_problem(text: str) -> None:
    parsed, problems = read(text)
    assert parsed is not None or problems
    for problem in problems:
        lines = text.count("\n") + 1
        assert 1 <= problem.span.line <= lines
        assert 1 <= problem.span.column <= len(problem.span.text) + 2
    if parsed is not None:
        list(walk(parsed.value, parsed.place))


@settings(max_examples=300, deadline=None)
@given(FRAGMENTS)
def test_no_text_raises_without_libyaml(text: str) -> None:
    native = yaml_events.make_parser
    yaml_events.make_parser = PureParser
    try:
        parsed, problems = read(text)
    finally:
        yaml_events.make_parser = native
    assert parsed is not None or problems
