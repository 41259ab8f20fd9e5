"""CSV reads as the csv module reads it, with the place of every cell, and strictly."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.source.csv import parse
from rollout.source.place import Parsed, Problem
from rollout.source.text import SourceFile


def read(text: str) -> tuple[Parsed | None, list[tuple[str, object, str]]]:
    problems: list[Problem] = []
    parsed = parse(SourceFile(Path("a.csv"), "a.csv", text), problems)
    return parsed, [(p.slug, p.facts.get("kind"), f"{p.span.line}:{p.span.column}") for p in problems]


def test_every_cell_is_text_with_its_place_and_its_column_as_key() -> None:
    parsed, problems = read('id,note\r\nO-1,"a, ""b""\r\nc"\r\n\r\n,x\r\n')
    assert problems == []
    assert parsed is not None
    assert parsed.value == [{"id": "O-1", "note": 'a, "b"\nc'}, {"id": "", "note": "x"}]
    cell = parsed.place.nearest((0, "note"))[0]
    assert (str(cell.span()), str(cell.span("key"))) == ("a.csv:2:5", "a.csv:1:4")
    assert str(parsed.place.nearest((1, "note"))[0].span()) == "a.csv:5:2"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", ("empty-file", None, "1:1")),
        ("\n\n", ("empty-file", None, "1:1")),
        ('a,"b\n1,2\n', ("csv-syntax", "unclosed-quote", "1:3")),
        ('a\n"b"c\n', ("csv-syntax", "text-after-quote", "2:4")),
        ('a\nb"c\n', ("csv-syntax", "quote-inside", "2:2")),
        ("a,b\n1\n", ("csv-syntax", "row-length", "2:1")),
        ("a,b\n1,2,3\n", ("csv-syntax", "row-length", "2:1")),
        ("a,\n1,2\n", ("csv-syntax", "column-without-name", "1:3")),
    ],
)
def test_what_is_amiss_is_a_problem_at_its_place(text: str, problem: tuple[str, object, str]) -> None:
    parsed, problems = read(text)
    assert parsed is None
    assert problems == [problem]


def test_of_a_column_that_is_given_twice_the_first_counts() -> None:
    parsed, problems = read("a,b,a\n1,2,3\n")
    assert problems == [("duplicate-key", None, "1:5")]
    assert parsed is not None and parsed.value == [{"a": "1", "b": "2"}]
    assert str(parsed.place.nearest((0, "a"))[0].span()) == "a.csv:2:1"


def test_all_rows_of_a_wrong_length_show_in_one_run() -> None:
    _, problems = read("a,b\n1\n1,2\n3\n")
    assert [place for _, _, place in problems] == ["2:1", "4:1"]


def test_rows_of_a_wrong_length_and_quotes_show_in_one_run() -> None:
    _, problems = read('a,b\n1,2\n1\nx"y,2\n"z"z,1\n3\n4,"5\n6\n')
    assert sorted((place, kind) for _, kind, place in problems) == [
        ("3:1", "row-length"),
        ("4:2", "quote-inside"),
        ("5:4", "text-after-quote"),
        ("6:1", "row-length"),
        ("7:3", "unclosed-quote"),
    ]


def test_of_a_table_with_a_broken_header_nothing_is_said_that_only_follows() -> None:
    _, problems = read('a,b"c\n1,2,3\n4\n5"6\n')
    assert [(kind, place) for _, kind, place in problems] == [
        ("quote-inside", "1:4"),
        ("quote-inside", "4:2"),
    ]


def test_a_file_of_broken_quotes_is_not_read_to_its_end() -> None:
    _, problems = read("a\n" + 'x"\n' * 5000)
    assert len(problems) == 100


def test_a_file_that_is_no_table_is_not_read_to_its_end() -> None:
    _, problems = read("a,b\n" + "1\n" * 5000)
    assert len(problems) == 101
    assert problems[-1] == ("too-many-broken-lines", None, "101:1")


CELLS = st.text('ab",\n é', max_size=6)


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 4).flatmap(
        lambda width: st.lists(st.lists(CELLS, min_size=width, max_size=width), max_size=4)
    )
)
def test_what_the_csv_module_writes_reads_as_it_was(rows: list[list[str]]) -> None:
    width = len(rows[0]) if rows else 1
    header = [f"c{number}" for number in range(width)]
    written = io.StringIO(newline="")
    csv.writer(written).writerows([header, *rows])
    parsed, problems = read(written.getvalue())
    assert problems == []
    assert parsed is not None
    assert parsed.value == [dict(zip(header, row, strict=True)) for row in rows]


@settings(max_examples=200, deadline=None)
@given(st.text('ab",\n\r', max_size=30))
def test_random_text_never_raises(text: str) -> None:
    parsed, problems = read(text)
    assert (parsed is None) == any(slug != "duplicate-key" for slug, _, _ in problems)
