"""JSON is read strictly, every fault has a place, and the text at each place reads back to the value."""

from __future__ import annotations

import json as standard
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.source import json
from rollout.source.place import Parsed, Place, Problem
from rollout.source.text import SourceFile


def read(text: str) -> tuple[Parsed | None, list[Problem]]:
    problems: list[Problem] = []
    return json.parse(SourceFile(Path("x.json"), "x.json", text), problems), problems


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
        for key, child in place.children.items():
            assert standard.loads(place.source.text[child.key_start : child.key_end]) == key
            yield from walk(value[key], child)
    elif isinstance(value, list):
        assert isinstance(place.children, list)
        for member, child in zip(value, place.children, strict=True):
            yield from walk(member, child)
    else:
        assert place.children is None


FAULTS: list[tuple[str, list[str]]] = [
    ("", ["1:1 empty-file"]),
    (" \n ", ["1:1 empty-file"]),
    ('{"a": 1, "b": {"a": 2}, "a": 3}', ["1:25 duplicate-key"]),
    ('{"a": 1, "\\u0061": 3}', ["1:10 duplicate-key"]),
    ("[NaN, Infinity, -Infinity]", ["1:2 bad-number", "1:7 bad-number", "1:17 bad-number"]),
    ("[1e999, -1e999]", ["1:2 bad-number", "1:9 bad-number"]),
    ("9" * 5000, ["1:1 bad-number"]),
    ('["\\ud800", "a\\udc00b", "\\ud83d\\ude00"]', ["1:3 lone-surrogate", "1:14 lone-surrogate"]),
    ('{"\\udfff": 1}', ["1:3 lone-surrogate"]),
    ("[" * 101 + "]" * 101, ["1:101 too-deep"]),
    ('{"a":' * 101 + "1" + "}" * 101, ["1:501 too-deep"]),
    ("[" * 100_000, ["1:101 too-deep"]),
    ('{"a": 1,}', ["1:8 json-syntax trailing-comma"]),
    ("[1,\n 2,\n]", ["2:3 json-syntax trailing-comma"]),
    ("[1 2]", ["1:3 json-syntax missing-comma"]),
    ('{"a": 1\n "b": 2}', ["1:8 json-syntax missing-comma"]),
    ("[1,,2]", ["1:4 json-syntax missing-value"]),
    ('{"a":}', ["1:6 json-syntax missing-value"]),
    ('{"a" 1}', ["1:2 json-syntax missing-colon"]),
    ("{a: 1}", ["1:2 json-syntax bare-key"]),
    ("{1: 1}", ["1:2 json-syntax bare-key"]),
    ("{'a': 1}", ["1:2 json-syntax single-quotes"]),
    ("['a']", ["1:2 json-syntax single-quotes"]),
    ("{,}", ["1:2 json-syntax no-key"]),
    ("[1", ["1:1 json-syntax unclosed"]),
    ("[", ["1:1 json-syntax unclosed"]),
    ('{"a": [1, 2}', ["1:12 json-syntax mismatch"]),
    ('{"a": 1]', ["1:8 json-syntax mismatch"]),
    ('{"a"', ["1:1 json-syntax unclosed"]),
    ('{"a":', ["1:1 json-syntax unclosed"]),
    ("]", ["1:1 json-syntax unexpected"]),
    ('{"a": 1}}', ["1:9 json-syntax trailing"]),
    ("1 2", ["1:3 json-syntax trailing"]),
    ('{"a": 1} // c', ["1:10 json-syntax comment"]),
    ("/* c */ 1", ["1:1 json-syntax comment"]),
    ("[1, # c\n 2]", ["1:5 json-syntax comment"]),
    ("True", ["1:1 json-syntax bare-word"]),
    ("[None]", ["1:2 json-syntax bare-word"]),
    ("truely", ["1:1 json-syntax bare-word"]),
    ("[01]", ["1:2 json-syntax bad-number"]),
    ("[-]", ["1:2 json-syntax unexpected"]),
    ("[+1]", ["1:2 json-syntax bad-number"]),
    ("[.5]", ["1:2 json-syntax bad-number"]),
    ("[1.]", ["1:2 json-syntax bad-number"]),
    ("[1e]", ["1:2 json-syntax bad-number"]),
    ("[0x1F]", ["1:2 json-syntax bad-number"]),
    ("[1_000]", ["1:2 json-syntax bad-number"]),
    ("[٣]", ["1:2 json-syntax unexpected"]),
    ('["a\nb"]', ["1:2 json-syntax unclosed-string"]),
    ('["a', ["1:2 json-syntax unclosed-string"]),
    ('["a\\', ["1:2 json-syntax unclosed-string"]),
    ('["a\tb"]', ["1:4 json-syntax control-character"]),
    ('["\\x41"]', ["1:3 json-syntax bad-escape"]),
    ('["ab\\u12"]', ["1:5 json-syntax bad-escape"]),
    ("[\x0c1]", ["1:2 json-syntax unexpected"]),
    ("\ufeff1", ["1:1 json-syntax unexpected"]),
]


@pytest.mark.parametrize(("text", "problems"), FAULTS, ids=lambda each: repr(each)[:40])
def test_a_fault_is_named_at_its_place(text: str, problems: list[str]) -> None:
    assert found(text) == problems


def test_what_is_only_wrong_in_part_has_a_value_all_the_same() -> None:
    parsed, problems = read('{"a": 1, "a": 2, "b": NaN, "c": "x\\ud800", "d": 4}')
    assert parsed is not None
    assert parsed.value == {"a": 1, "b": 0, "c": "x\ufffd", "d": 4}
    assert len(problems) == 3


@pytest.mark.parametrize("text", ["9007199254740993", "-123456789012345678901234567890"])
def test_whole_numbers_are_exact(text: str) -> None:
    parsed, problems = read(text)
    assert problems == []
    assert parsed is not None
    assert str(parsed.value) == text


def test_a_quote_that_never_ends_is_found_at_once() -> None:
    assert found('["' + "a" * 100_000) == ["1:2 json-syntax unclosed-string"]


def test_after_a_thousand_problems_the_rest_is_not_read() -> None:
    parsed, problems = read("[" + "NaN," * 5000 + "1]")
    assert parsed is None
    assert len(problems) == json.MAX_PROBLEMS + 1
    assert all(problem.span.text is problems[0].span.text for problem in problems)


def test_lines_and_columns_are_those_of_an_editor() -> None:
    parsed, _ = read('{\r\n  "é😀": [\r\n    "\u2028", {"x": 1}]}')
    assert parsed is not None
    place, taken = parsed.place.nearest(("é😀", 1, "x"))
    assert taken == 3
    assert (str(place.span()), str(place.span("key"))) == ("x.json:3:16", "x.json:3:11")


def test_a_jsonl_line_knows_its_number() -> None:
    problems: list[Problem] = []
    source = SourceFile(Path("x"), "x.jsonl", '{"a": 1 "b"}', first_line=7)
    assert json.parse(source, problems) is None
    assert str(problems[0].span) == "x.jsonl:7:8"


VALUE = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=15,
)


@settings(max_examples=150, deadline=None)
@given(VALUE, st.sampled_from([None, 0, 2, "\t"]), st.booleans(), st.sampled_from(["", " ", "\r\n\t "]))
def test_the_text_at_each_place_reads_back_to_the_value(
    value: Any, indent: Any, ascii: bool, around: str
) -> None:
    text = around + standard.dumps(value, indent=indent, ensure_ascii=ascii) + around
    parsed, problems = read(text)
    assert problems == []
    assert parsed is not None
    assert parsed.value == value
    for member, place in walk(parsed.value, parsed.place):
        again = standard.loads(text[place.start : place.end])
        assert again == member
        assert type(again) is type(member)


FRAGMENTS = st.lists(
    st.sampled_from(
        [
            *"{}[]:,\"\\ \n\t-+.0123eE/*#'",
            '"a":',
            '"b"',
            "true",
            "null",
            "NaN",
            "Infinity",
            "\\u00e9",
            "\\ud800",
            "1.5",
            "\x00",
            "é",
            "\u2028",
        ]
    ),
    max_size=25,
).map("".join)


def refuse(constant: str) -> Any:
    raise ValueError(constant)


def refuse_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(dict(pairs)) < len(pairs):
        raise ValueError("duplicate key")
    return dict(pairs)


@settings(max_examples=500, deadline=None)
@given(FRAGMENTS | st.text(max_size=30))
def test_no_text_raises_and_exactly_the_strict_texts_have_no_problem(text: str) -> None:
    parsed, problems = read(text)
    assert parsed is not None or problems
    try:
        expected = standard.loads(text, parse_constant=refuse, object_pairs_hook=refuse_duplicates)
        standard.dumps(expected, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        assert problems
    else:
        assert problems == []
        assert parsed is not None
        assert parsed.value == expected
    for problem in problems:
        assert 1 <= problem.span.line <= text.count("\n") + 1
        assert 1 <= problem.span.column <= len(problem.span.text) + 2
