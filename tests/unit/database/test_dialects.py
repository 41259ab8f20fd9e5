"""Schemas of other dialects: what is carried over means the same, and the rest is refused with its line."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import pytest

from rollout.database import DatabaseSpec
from rollout.database.image import Image

pytest.importorskip("sqlglot")


def build(schema: str, seed: str = "", *, dialect: str = "postgres", **settings: Any) -> Image:
    return Image(DatabaseSpec(schema, seed, dialect, "2025-03-31T12:00:00", **settings))


def refused(
    schema: str, seed: str = "", *, dialect: str = "postgres", **settings: Any
) -> list[tuple[int, str]]:
    image = build(schema, seed, dialect=dialect, **settings)
    texts = {"schema": schema, "seed": seed}
    return [
        (texts[failure.key].count("\n", 0, failure.start) + 1, failure.reason)
        for failure in image.failures
        if failure.key in texts
    ]


def rows(image: Image, query: str) -> list[tuple[Any, ...]]:
    assert image.failures == ()
    outcome = image.ask(query)
    assert outcome.failed is None
    return list(outcome.rows)


def test_a_dump_of_postgres_is_carried_over() -> None:
    image = build(
        """
        SET client_encoding = 'UTF8';
        SELECT pg_catalog.set_config('search_path', '', false);
        CREATE EXTENSION IF NOT EXISTS plpgsql;
        CREATE TABLE public.orders (
            id integer NOT NULL, customer character varying(40) NOT NULL, total numeric(10,2), made date, paid boolean
        );
        ALTER TABLE public.orders OWNER TO shop;
        CREATE TABLE public.items (order_id bigint, name text);
        ALTER TABLE ONLY public.orders ADD CONSTRAINT orders_pkey PRIMARY KEY (id);
        ALTER TABLE ONLY public.items ADD CONSTRAINT items_fk FOREIGN KEY (order_id) REFERENCES public.orders(id);
        CREATE INDEX by_customer ON public.orders USING btree (customer);
        GRANT SELECT ON public.orders TO PUBLIC;
        """,
        """INSERT INTO public.orders VALUES (1, 'Ada', 20.00, '2025-03-01', true);
        INSERT INTO public.orders VALUES (2, E'O\\'Hara', 3, '2025-03-02', false);
        INSERT INTO public.items VALUES (1, 'cup');""",
    )
    assert rows(image, "SELECT total / 3 > 6.6, typeof(total) FROM orders WHERE id = 1") == [(1, "real")]
    assert rows(image, "SELECT customer FROM orders WHERE paid = FALSE") == [("O'Hara",)]
    assert image.foreign_keys


def test_a_dump_of_mysql_is_carried_over() -> None:
    image = build(
        """
        DROP TABLE IF EXISTS `orders`;
        LOCK TABLES `orders` WRITE;
        CREATE TABLE `orders` (
          `id` int unsigned NOT NULL AUTO_INCREMENT,
          `status` enum('open','closed') NOT NULL DEFAULT 'open' COMMENT 'how far',
          `at` datetime DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP,
          PRIMARY KEY (`id`), KEY `s` (`status`), UNIQUE KEY `u` (`id`, `status`)
        ) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;
        """,
        r"INSERT INTO `orders` (`status`) VALUES ('open'), ('closed'); UNLOCK TABLES;",
        dialect="mysql",
    )
    assert rows(image, "SELECT id, status, at FROM orders") == [
        (1, "open", "2025-03-31 12:00:00"),
        (2, "closed", "2025-03-31 12:00:00"),
    ]


@pytest.mark.parametrize("dialect", ["mysql", "tsql"])
def test_texts_are_compared_without_regard_to_case_where_the_dialect_does(dialect: str) -> None:
    seed = "INSERT INTO t VALUES ('Ada', 'A');"
    image = build("CREATE TABLE t (name VARCHAR(20), code VARCHAR(3));", seed, dialect=dialect)
    assert rows(image, "SELECT name FROM t WHERE name = 'ADA' AND code IN ('a')") == [("Ada",)]


@pytest.mark.parametrize(
    "schema",
    [
        "CREATE TABLE t (s ENUM('a', 'b') CHARACTER SET utf8mb4 COLLATE utf8mb4_bin);",
        "CREATE TABLE t (s VARCHAR(9)) ENGINE=InnoDB COLLATE=utf8mb4_0900_as_cs;",
        "CREATE TABLE t (s VARCHAR(9) COLLATE utf8mb4_bin) COLLATE=utf8mb4_general_ci;",
    ],
)
def test_a_collation_that_sees_case_is_kept(schema: str) -> None:
    image = build(schema, "INSERT INTO t VALUES ('a');", dialect="mysql")
    assert rows(image, "SELECT s FROM t WHERE s = 'A'") == []


def test_an_enum_of_mysql_is_compared_without_regard_to_case() -> None:
    image = build("CREATE TABLE t (d ENUM('a', 'b'));", "INSERT INTO t VALUES ('a');", dialect="mysql")
    assert rows(image, "SELECT d FROM t WHERE d = 'A'") == [("a",)]
    assert (
        rows(
            build("CREATE TABLE t (d VARCHAR(3));", "INSERT INTO t VALUES ('a');"),
            "SELECT d FROM t WHERE d = 'A'",
        )
        == []
    )


def test_an_enum_takes_its_values_only() -> None:
    assert "CHECK constraint failed" in str(
        refused(
            "CREATE TYPE mood AS ENUM ('sad', 'ok'); CREATE TABLE t (m mood);",
            "INSERT INTO t VALUES ('grim');",
        )
    )


@pytest.mark.parametrize(
    ("time", "stored"),
    [
        ("now()", "2025-03-31 12:00:00"),
        ("CURRENT_DATE", "2025-03-31 00:00:00"),
        ("now() - INTERVAL '1 month'", "2025-02-28 12:00:00"),
        ("CURRENT_DATE - INTERVAL '1 day 2 hours'", "2025-03-29 22:00:00"),
        ("CURRENT_DATE - 7", "2025-03-24 00:00:00"),
        ("date_trunc('week', now()) + INTERVAL '90 min'", "2025-03-31 01:30:00"),
        ("'2025-01-31'::date + INTERVAL '1 month'", "2025-02-28 00:00:00"),
        ("'2025-01-31T08:00:00+02'::timestamptz", "2025-01-31 06:00:00"),
        ("'2025-01-31 08:00'", "2025-01-31 08:00:00"),
    ],
)
def test_times_are_worked_out_as_the_other_database_would(time: str, stored: str) -> None:
    assert rows(
        build("CREATE TABLE t (a timestamp)", f"INSERT INTO t VALUES ({time})"), "SELECT a FROM t"
    ) == [(stored,)]


def test_a_time_is_stored_as_its_column_says() -> None:
    image = build(
        "CREATE TABLE t (a date)", "INSERT INTO t VALUES (now() - INTERVAL '1 day'), ('2025-01-02 03:04:05')"
    )
    assert rows(image, "SELECT a FROM t") == [("2025-03-30",), ("2025-01-02",)]


def test_like_minds_capitals_where_it_did() -> None:
    image = build(
        "CREATE TABLE t (a text); CREATE VIEW v AS SELECT a FROM t WHERE a LIKE 'A%' AND NOT a ILIKE '%Z';",
        "INSERT INTO t VALUES ('Ab'), ('ab'), ('Az')",
    )
    assert rows(image, "SELECT a FROM v") == [("Ab",)]


@pytest.mark.parametrize(
    ("schema", "line", "reason"),
    [
        (
            "CREATE TABLE t (\n id int,\n a text[]\n);",
            3,
            "the type TEXT[] of the column “a” has no counterpart in SQLite",
        ),
        (
            "CREATE TABLE t (a int);\nCREATE SEQUENCE s;",
            2,
            "CREATE SEQUENCE cannot be carried over to SQLite",
        ),
        ("CREATE TABLE t (\n id int,\n n serial\n);", 3, "the column “n” counts by itself"),
        ("CREATE TABLE a.t (x int);\nCREATE TABLE b.t (x int);", 2, "two tables are called “t”"),
        ("CREATE TABLE t (a int)\nPARTITION BY RANGE (a);", 1, "partitions and inheritance"),
        (
            "CREATE TABLE t (a text);\nCREATE VIEW v AS\nSELECT regexp_replace(a, 'x', 'y') FROM t;",
            3,
            "REGEXP_REPLACE",
        ),
        ("CREATE TABLE t (a uuid DEFAULT gen_random_uuid());", 1, "no counterpart in SQLite"),
        ("CREATE TABLE t (a int;\n", 1, "it cannot be read as postgres"),
        ("CREATE TABLE t (a int);\nSELECT 'open;", 2, "it cannot be read as postgres"),
        ("CREATE TABLE t (a int);\nCOPY t (a) FROM stdin;\n1\n\\.\n", 2, "COPY … FROM stdin"),
        ("CREATE TABLE t (a int);\nDO $$ BEGIN END $$;", 2, "DO"),
    ],
)
def test_what_does_not_mean_the_same_is_refused_with_its_line(schema: str, line: int, reason: str) -> None:
    (found, *_) = refused(schema)
    assert found[0] == line
    assert reason in found[1]


@pytest.mark.parametrize(
    ("seed", "line", "reason"),
    [
        (
            "INSERT INTO t (a) VALUES ('2025-01-01');\nINSERT INTO t (a) VALUES ('Jan 5, 2025');",
            2,
            "“Jan 5, 2025”",
        ),
        ("INSERT INTO t (a)\nSELECT generate_series(1, 3);", 2, "GENERATE_SERIES"),
        ("INSERT INTO t (a) VALUES (DATE '2025-01-01' + 1.5);", 1, "this arithmetic with a time"),
        ("INSERT INTO t (a) VALUES (DATE '2025-01-01' + 99999999999);", 1, "this arithmetic with a time"),
        ("INSERT INTO t (a) VALUES (NOW() - INTERVAL '99999999999 days');", 1, "no counterpart in SQLite"),
        ("INSERT INTO t (a) VALUES ('0001-01-01 00:00:00+05');", 1, "is not written as"),
    ],
)
def test_a_seed_is_refused_with_its_line_too(seed: str, line: int, reason: str) -> None:
    ((found, told), *_) = refused("CREATE TABLE t (a date);", seed)
    assert (found, reason in told) == (line, True)


@pytest.mark.parametrize("dialect", ["postgres", "mysql", "tsql"])
@pytest.mark.parametrize(
    ("schema", "seed"),
    [
        ("CREATE TABLE t (\na int,, b date);", ""),
        ("CREATE TABLE t (a int,\nb date,);", ""),
        ("CREATE TABLE t (\n, a int);", ""),
        ("CREATE TABLE t (a int, b int);", "INSERT INTO t VALUES\n(1,,2);"),
        ("CREATE TABLE t (a int, b int);", "INSERT INTO t VALUES (1, 2),\n(3, 4),;"),
    ],
)
def test_a_comma_that_parts_nothing_is_refused_with_its_line(schema: str, seed: str, dialect: str) -> None:
    assert refused(schema, seed, dialect=dialect) == [(2, "a comma stands there with nothing to part")]


@pytest.mark.parametrize(
    "value",
    [
        f"{'(' * 400}1{')' * 400}",
        "+".join("1" * 3000),
        f"{'[' * 400}",
        "NOT " * 2000 + "1",
        "-+" * 2000 + "1",
    ],
    ids=["parentheses", "sum", "brackets", "negations", "signs"],
)
def test_what_is_nested_too_deeply_is_refused_with_its_line(value: str) -> None:
    ((line, reason),) = refused(
        "CREATE TABLE t (a int);", f"SELECT set_config('a', 'b', false);\n\nINSERT INTO t VALUES ({value});"
    )
    assert (line, "nested too deeply" in reason) == (3, True)
    ((line, reason),) = refused(f"CREATE TABLE s (a int);\nCREATE TABLE t (a int DEFAULT ({value}));")
    assert (line, "nested too deeply" in reason) == (2, True)


@pytest.mark.parametrize(
    ("dialect", "statement"),
    [
        ("tsql", "INSERT INTO t VALUES (GETDATE() - 30);"),
        ("postgres", "CREATE VIEW v AS SELECT CURRENT_DATE - a AS days FROM t;"),
        ("postgres", "UPDATE t SET a = NOW() * 2;"),
    ],
)
def test_arithmetic_with_a_time_that_cannot_be_worked_out_is_refused(dialect: str, statement: str) -> None:
    # SQLite would reckon with the year that the text begins with.
    ((line, reason),) = refused(f"CREATE TABLE t (a datetime);\n{statement}", dialect=dialect)
    assert (line, reason) == (2, "this arithmetic with a time has no counterpart in SQLite")


def test_a_default_that_is_reckoned_from_today_is_worked_out() -> None:
    image = build(
        "CREATE TABLE t (a int, due date DEFAULT (CURRENT_DATE + 7));", "INSERT INTO t (a) VALUES (1);"
    )
    assert rows(image, "SELECT due FROM t") == [("2025-04-07",)]


def test_a_text_that_ends_the_parser_in_an_error_is_refused_with_its_line() -> None:
    schema = "CREATE TABLE s (a int);\nCREATE  moodTYPE [ AS INSERT INTO ('sad', '');"
    assert refused(schema, dialect="duckdb") == [(2, "it cannot be read as duckdb")]


def test_an_update_that_happens_by_itself_only_matters_where_data_changes() -> None:
    schema = "CREATE TABLE t (a int, b datetime ON UPDATE CURRENT_TIMESTAMP);"
    assert refused(schema, dialect="mysql") == []
    assert "ON UPDATE" in refused(schema, dialect="mysql", read_only=False)[0][1]


def test_an_unknown_dialect_is_told_with_a_near_one() -> None:
    (failure,) = build("CREATE TABLE t (a)", dialect="postgre").failures
    assert (failure.key, failure.reason) == (
        "dialect",
        "There is no SQL dialect “postgre”. Did you mean “postgres”?",
    )


def test_without_sqlglot_the_way_to_install_it_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    load = builtins.__import__

    def without(name: str, *rest: Any, **more: Any) -> Any:
        if name.partition(".")[0] == "sqlglot":
            raise ModuleNotFoundError(name=name)
        return load(name, *rest, **more)

    monkeypatch.delitem(sys.modules, "rollout.database.dialects", raising=False)
    monkeypatch.setattr(builtins, "__import__", without)
    (failure,) = build("CREATE TABLE t (a)").failures
    assert failure.reason == (
        "“dialect” needs the package sqlglot. Install it: pip install 'rolloutdev[sql]', in a clone -e '.[sql]'"
    )
