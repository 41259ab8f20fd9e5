"""Which rows of a gold query may change places."""

from __future__ import annotations

import sqlite3

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rollout.database import DatabaseSpec
from rollout.database.golds import evaluate, order_terms
from rollout.database.image import image_of
from rollout.database.statements import statements

SPEC = DatabaseSpec(
    "CREATE TABLE t (id INTEGER PRIMARY KEY, a TEXT, n INT); CREATE TABLE u (id INTEGER PRIMARY KEY, t INT);",
    "INSERT INTO t VALUES (1, 'x', 1), (2, 'y', 1), (3, 'X', 2), (4, NULL, 2);"
    "INSERT INTO u VALUES (1, 1), (2, 1), (3, 3);",
)


@pytest.mark.parametrize(
    ("query", "groups"),
    [
        ("SELECT id FROM t", None),
        ("SELECT id FROM (SELECT id FROM t ORDER BY id)", None),
        ("WITH s AS (SELECT id FROM t ORDER BY id) SELECT id FROM s", None),
        ("SELECT id, RANK() OVER (ORDER BY n) FROM t", None),
        ("SELECT 'ORDER BY id' FROM t -- ORDER BY id", None),
        ("SELECT id FROM t WHERE a = 'x' OR id IN (SELECT t FROM u ORDER BY id LIMIT 1)", None),
        ("SELECT id FROM t ORDER BY n", (2, 2)),
        ("SELECT id FROM t ORDER BY n DESC NULLS LAST, id", (1, 1, 1, 1)),
        ("SELECT n, id FROM t ORDER BY 1", (2, 2)),
        ("SELECT id, n AS size FROM t ORDER BY size", (2, 2)),
        ("SELECT id, n size FROM t ORDER BY SIZE DESC;", (2, 2)),
        ("SELECT * FROM t ORDER BY n", (2, 2)),
        ("SELECT id FROM t ORDER BY n * 2 + 1", (2, 2)),
        ("SELECT id, n AS size FROM t ORDER BY CASE WHEN size = 1 THEN 0 ELSE 1 END", (2, 2)),
        ("SELECT id FROM t WHERE a IS NOT NULL ORDER BY a COLLATE NOCASE", (2, 1)),
        ("SELECT id FROM t WHERE a IS NOT NULL ORDER BY a", (1, 1, 1)),
        ("SELECT DISTINCT n FROM t ORDER BY n", (1, 1)),
        ("SELECT DISTINCT t.n FROM t ORDER BY n", (1, 1)),
        ("SELECT DISTINCT n FROM t ORDER BY n / 3", (2,)),
        ("SELECT DISTINCT a FROM t ORDER BY a IS NULL", (3, 1)),
        ("SELECT n, COUNT(*) FROM t GROUP BY n ORDER BY COUNT(*) DESC", (2,)),
        ("SELECT n FROM t GROUP BY n ORDER BY COUNT(*)", (2,)),
        ("SELECT n, COUNT(*) AS many FROM t GROUP BY n ORDER BY many DESC, n", (1, 1)),
        ("SELECT id FROM t UNION ALL SELECT t FROM u ORDER BY id", (3, 1, 2, 1)),
        (
            "WITH s AS (SELECT 1) SELECT t.id FROM t LEFT JOIN u ON u.t = t.id ORDER BY u.id IS NULL, t.n LIMIT 9",
            (2, 1, 1, 1),
        ),
        ("SELECT id FROM t ORDER BY n LIMIT 3", (2, 1)),
        ("VALUES (1), (2)", None),
        ("SELECT 1", None),
    ],
)
def test_rows_that_are_equal_on_what_they_are_ordered_by_may_change_places(
    query: str, groups: tuple[int, ...] | None
) -> None:
    gold = evaluate(image_of(SPEC), query)
    assert gold.failed is None
    assert gold.groups == groups
    assert groups is None or sum(groups) == len(gold.rows)


def test_a_key_that_cannot_be_told_keeps_the_rows_in_their_order() -> None:
    gold = evaluate(image_of(SPEC), "SELECT DISTINCT n FROM t ORDER BY id % 2")
    assert gold.groups == (1, 1)


def test_the_terms_of_the_outermost_order() -> None:
    terms = order_terms(
        "SELECT a FROM t ORDER BY lower(a) DESC, (SELECT 1 ORDER BY 2) ASC NULLS FIRST LIMIT 3"
    )
    assert ["".join(token.text for token in term) for term in terms] == ["lower(a)", "(SELECT1ORDERBY2)"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" -- nothing\n ; /* nothing */", []),
        ("SELECT 1; SELECT ';'; -- end", ["SELECT 1;", "SELECT ';';"]),
        ("/* a */ SELECT 1", ["SELECT 1"]),
        (
            "CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END; SELECT 3",
            ["CREATE TRIGGER x AFTER INSERT ON t BEGIN SELECT 1; SELECT 2; END;", "SELECT 3"],
        ),
    ],
)
def test_text_is_split_into_statements(text: str, expected: list[str]) -> None:
    assert [text[start:end] for start, end in statements(text)] == expected


@settings(max_examples=300)
@given(
    st.lists(
        st.sampled_from(
            [
                ";",
                " ",
                "\n",
                "'",
                '"',
                "`",
                "[",
                "]",
                "--",
                "/*",
                "*/",
                "a",
                "1",
                "(",
                "é",
                "create",
                "TEMP",
                "trigger",
                "explain",
                "end",
                "END",
                "begin",
                "select",
            ]
        ),
        max_size=25,
    ).map("".join)
)
def test_text_is_split_where_sqlite_would_split_it(text: str) -> None:
    pieces: list[str] = [""]
    for character in text:
        pieces[-1] += character
        if character == ";" and sqlite3.complete_statement(pieces[-1]):
            pieces.append("")
    expected: list[tuple[int, int]] = []
    start = 0
    for piece in pieces:
        expected += [(start + at, start + end) for at, end in statements(piece)]
        start += len(piece)
    assert list(statements(text)) == expected
    assert all(len(list(statements(piece))) <= 1 for piece in pieces)


def test_a_long_text_full_of_semicolons_is_split_in_no_time() -> None:
    text = f"INSERT INTO t VALUES ('{';' * 500_000}');"
    assert list(statements(text)) == [(0, len(text))]
