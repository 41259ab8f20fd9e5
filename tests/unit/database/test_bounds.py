"""What a database may cost when it is built, and a gold query when it is asked."""

from __future__ import annotations

import sqlite3

import pytest

from rollout.database import DatabaseSpec, image
from rollout.database.golds import evaluate
from rollout.database.image import Image

_ENDLESS = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c;"


def test_schema_and_seed_have_one_allowance_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(image, "_BUILDING_STEPS", 1_000_000)
    built = Image(DatabaseSpec("CREATE TABLE t (a INT);", f"INSERT INTO t {_ENDLESS}\n" * 50))
    assert [failure.reason for failure in built.failures] == ["it takes too long and was stopped"]
    assert evaluate(built, "SELECT count(*) FROM t").rows == ((0,),)


def test_a_gold_query_has_to_be_of_a_size_that_can_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    built = Image(DatabaseSpec("CREATE TABLE t (a INT);", ""))
    query = "WITH RECURSIVE c(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM c LIMIT 4000) SELECT zeroblob(900000) FROM c"
    assert evaluate(built, query).failed == "it comes to more than 100,000 rows, or 50,000,000 bytes"


@pytest.mark.parametrize(
    "query", ["DELETE FROM t RETURNING a", "COMMIT", "RELEASE x", "COMMIT; DROP TABLE t"]
)
def test_a_gold_query_only_asks(query: str) -> None:
    built = Image(DatabaseSpec("CREATE TABLE t (a INT);", "INSERT INTO t VALUES (1);"))
    assert evaluate(built, query).failed is not None
    assert evaluate(built, "SELECT a FROM t").rows == ((1,),)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT printf('%.*c', 2000000000, 'x')",
        "SELECT format('%2000000000d', 1)",
        "SELECT printf('%.600000c%.600000c', 'x', 'y')",
        "SELECT printf('%.*c', '999999999', 'x')",
        "SELECT printf('%.*c', 9.9e8, 'x')",
        "SELECT printf('%d %.*c', 1, x'393939393939393939', 'x')",
    ],
)
def test_a_format_asks_for_no_more_than_can_be_kept(query: str) -> None:
    failed = evaluate(Image(DatabaseSpec("CREATE TABLE t (a INT);", "")), query).failed
    assert failed is not None
    assert "exception" not in failed


def test_a_large_number_is_no_width() -> None:
    built = Image(DatabaseSpec("CREATE TABLE t (a INT);", ""))
    assert evaluate(built, "SELECT printf('%*d %d', 3, 2, 5000000)").rows == (("  2 5000000",),)
    assert evaluate(built, "SELECT printf('%s', x'ff41')").failed is None


def test_a_format_is_written_as_sqlite_writes_it() -> None:
    built = Image(DatabaseSpec("CREATE TABLE t (a INT);", ""))
    query = "SELECT printf('%05.2f|%-4d|%s|%%|%,d', 3.14159, 7, NULL, 1234567), printf('%.*f', 1, 2.55), format(NULL)"
    assert evaluate(built, query).rows == (("03.14|7   ||%|1,234,567", "2.6", None),)


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("SELECT instr(hex(zeroblob(450000)), hex(zeroblob(250000)) || '1')", 0),
        ("SELECT length(replace(hex(zeroblob(450000)), hex(zeroblob(250000)) || '1', 'x'))", 900_000),
    ],
)
def test_a_long_text_is_looked_for_in_another_without_comparing_it_at_every_place(
    query: str, found: int
) -> None:
    assert evaluate(Image(DatabaseSpec("CREATE TABLE t (a INT);", "")), query).rows == ((found,),)


@pytest.mark.parametrize(
    "query",
    [
        "SELECT hex(randomblob(100000000))",
        "SELECT replace(hex(zeroblob(400000)), '0', hex(zeroblob(400000)))",
    ],
)
def test_what_would_be_too_long_is_said_in_words(query: str) -> None:
    failed = evaluate(Image(DatabaseSpec("CREATE TABLE t (a INT);", "")), query).failed
    assert failed == "a value in it is longer than 1,000,000 bytes"


_VALUES = ("NULL", "''", "'abcb'", "'aéb'", "'b'", "'2'", "12", "1.5", "1e20", "x''", "x'616263'", "x'63'")


@pytest.mark.parametrize("value", _VALUES)
@pytest.mark.parametrize("part", _VALUES)
def test_texts_are_searched_as_sqlite_searches_them(value: str, part: str) -> None:
    query = (
        f"SELECT instr({value}, {part}), replace({value}, {part}, 'Z'), typeof(replace({value}, {part}, 7))"
    )
    built = Image(DatabaseSpec("CREATE TABLE t (a INT);", ""))
    assert evaluate(built, query).rows == (sqlite3.connect(":memory:").execute(query).fetchone(),)
