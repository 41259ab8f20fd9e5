"""What an agent does to a database that it may write to, however it does it, is judged."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from rollout.check import check
from rollout.engine import Outcome, Verdict, roll_out
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import EnvironmentWorkflow
from rollout.models import connect
from rollout.source import read_one

ENVIRONMENT = """
template: sql
name: Shop
readOnly: false
schema: |
  CREATE TABLE items (id INTEGER PRIMARY KEY, name TEXT NOT NULL, price REAL, note TEXT);
  CREATE TABLE sales (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items (id), pieces INTEGER CHECK (pieces > 0));
  CREATE VIEW dear AS SELECT id FROM items WHERE price > 10;
  CREATE TRIGGER kept AFTER DELETE ON sales BEGIN INSERT INTO sales VALUES (old.id + 100, old.item, old.pieces); END;
  CREATE INDEX by_name ON items (name);
seed: |
  INSERT INTO items VALUES (1, 'cup', 4, 'blue'), (2, 'bowl', 12, NULL), (3, 'fork', 2, NULL);
tasks:
  - {id: task, instruction: Do it., hidden_ground_truth: {query: "%s"}, solution: []}
verifier:
  primitives: [{name: right, type: sql_result}]
"""
HOW_MANY = "SELECT count(*) FROM items"
DEARER = "UPDATE items SET price = 5 WHERE id = 1"


def judged(tmp_path: Any, gold: str, *statements: str, answer: str = "3") -> Verdict:
    file = tmp_path / "shop.yaml"
    file.write_text(ENVIRONMENT % gold, encoding="utf-8")
    environment = check(read_one(file)).environment()
    (task,) = environment.tasks
    task.solution = [
        *({"tool": "run_sql", "args": {"query": each}} for each in statements),
        {"tool": "submit_answer", "args": {"answer": answer}},
    ]
    rollout = asyncio.run(
        roll_out(EnvironmentWorkflow(environment), VerifierGrader(environment), task, connect("oracle"))
    )
    return rollout.verdict


@pytest.mark.parametrize(
    ("gold", "statements"),
    [
        (HOW_MANY, ["ALTER TABLE items DROP COLUMN note"]),
        (HOW_MANY, ["ALTER TABLE items RENAME COLUMN note TO remark"]),
        (HOW_MANY, ["ALTER TABLE sales ADD COLUMN paid INTEGER DEFAULT 5"]),
        (HOW_MANY, ["ALTER TABLE sales RENAME TO sold", "CREATE TABLE sales (id, item, pieces)", "DROP TABLE sold"]),
        # No row says so, and everything is called as before.
        (HOW_MANY, ["DROP TABLE sales", "CREATE TABLE sales (id INTEGER PRIMARY KEY, item INTEGER, pieces INTEGER)"]),
        (HOW_MANY, ["DROP VIEW dear", "CREATE VIEW dear AS SELECT id FROM items"]),
        (HOW_MANY, ["DROP TRIGGER kept", "CREATE TRIGGER kept AFTER DELETE ON sales BEGIN SELECT 1; END"]),
        (HOW_MANY, ["DROP INDEX by_name", "CREATE UNIQUE INDEX by_name ON items (name)"]),
        # The statement fails, and its first row stays.
        (HOW_MANY, ["INSERT OR FAIL INTO sales VALUES (7, 1, 1), (8, 1, -1)"]),
        (HOW_MANY, ["UPDATE OR FAIL items SET id = CASE id WHEN 1 THEN 9 ELSE 2 END WHERE id <> 2"]),
        (DEARER, ["CREATE TEMP TABLE items AS SELECT * FROM main.items", DEARER]),
        (DEARER, ["CREATE TEMP VIEW items AS SELECT 1 AS id, 'cup' AS name, 5.0 AS price, 'blue' AS note"]),
        ("ALTER TABLE items DROP COLUMN note", []),
        ("ALTER TABLE items DROP COLUMN note", ["ALTER TABLE items DROP COLUMN price"]),
        (DEARER, ["CREATE TABLE kept_items AS SELECT * FROM items", "DROP TABLE items",
                  "ALTER TABLE kept_items RENAME TO items", DEARER]),
        ("CREATE VIEW cheap AS SELECT id FROM items WHERE price < 5", ["CREATE VIEW cheap AS SELECT id FROM items"]),
        ("CREATE VIEW cheap AS SELECT id FROM items", ["CREATE VIEW cheap AS SELECT 1"]),
        ("CREATE UNIQUE INDEX ux ON items (price, id)", ["CREATE INDEX ux ON sales (item)"]),
        ("CREATE UNIQUE INDEX ux ON items (price, id)", ["CREATE UNIQUE INDEX ux ON items (id, price)"]),
        ("CREATE TABLE n (id INTEGER PRIMARY KEY, x TEXT NOT NULL UNIQUE)", ["CREATE TABLE n (id, x)"]),
        ("CREATE TABLE n (id INTEGER, x TEXT CHECK (x <> ''))", ["CREATE TABLE n (id INTEGER, x TEXT)"]),
        ("ALTER TABLE items ADD COLUMN phone TEXT", ["ALTER TABLE items ADD COLUMN phone INTEGER"]),
        ("ALTER TABLE items ADD COLUMN state TEXT DEFAULT 'Open'",
         ["ALTER TABLE items ADD COLUMN state TEXT DEFAULT 'open'"]),
        ("CREATE TABLE n (at TEXT DEFAULT CURRENT_TIMESTAMP)",
         ["CREATE TABLE n (at TEXT DEFAULT 'current_timestamp')"]),
        ("CREATE TABLE n (x TEXT COLLATE NOCASE)", ["CREATE TABLE n (x TEXT COLLATE RTRIM)"]),
        ("CREATE TABLE n (x TEXT COLLATE NOCASE, y TEXT)", ["CREATE TABLE n (x TEXT, y TEXT COLLATE NOCASE)"]),
        ("CREATE TABLE n (x TEXT, UNIQUE (x COLLATE NOCASE))", ["CREATE TABLE n (x TEXT UNIQUE)"]),
        ("CREATE TABLE n (x TEXT UNIQUE ON CONFLICT REPLACE)", ["CREATE TABLE n (x TEXT UNIQUE)"]),
        ("CREATE TABLE n (x TEXT NOT NULL ON CONFLICT IGNORE)", ["CREATE TABLE n (x TEXT NOT NULL)"]),
        ("CREATE TABLE n (i INTEGER REFERENCES items DEFERRABLE INITIALLY DEFERRED)",
         ["CREATE TABLE n (i INTEGER REFERENCES items)"]),
        ("CREATE TABLE n (i INTEGER PRIMARY KEY) STRICT", ["CREATE TABLE n (i INTEGER PRIMARY KEY)"]),
        ("CREATE TABLE n (a, i INTEGER AS (a))", ["CREATE TABLE n (a, i INTEGER AS (a) STORED)"]),
        # What can be told is told, whatever else cannot.
        ("CREATE TABLE m (x CHECK (x > 0)); CREATE TABLE n (x TEXT)",
         ["CREATE TABLE m (x CHECK (x >= 1))", "CREATE TABLE n (x INTEGER)"]),
    ],
)  # fmt: skip
def test_what_was_done_besides_or_elsewhere_is_found(tmp_path: Any, gold: str, statements: list[str]) -> None:
    assert judged(tmp_path, gold, *statements).outcome is Outcome.FAILED


@pytest.mark.parametrize(
    ("gold", "statements"),
    [
        (HOW_MANY, ["CREATE TEMP TABLE items AS SELECT * FROM main.items", "DELETE FROM temp.items"]),
        (HOW_MANY, ["INSERT OR FAIL INTO sales VALUES (8, 1, -1)"]),
        (DEARER, [DEARER]),
        (DEARER, ["UPDATE ITEMS SET Price = 5.0 WHERE name = 'cup'"]),
        ("ALTER TABLE items DROP COLUMN note", ["ALTER TABLE items DROP COLUMN note"]),
        ("ALTER TABLE items RENAME COLUMN note TO remark", ["ALTER TABLE ITEMS RENAME note TO remark"]),
        ("ALTER TABLE sales ADD COLUMN paid INTEGER", ["ALTER TABLE sales ADD COLUMN paid INTEGER"]),
        ("CREATE VIEW cheap AS SELECT id FROM items WHERE price < 5",
         ["CREATE VIEW cheap AS SELECT id  FROM items  WHERE (price<5)"]),
        ("CREATE UNIQUE INDEX ux ON items (price, id)", ['create unique index "ux" on "items" ("price", [id])']),
        ("CREATE TABLE n (id INTEGER PRIMARY KEY, x TEXT NOT NULL UNIQUE)",
         ["CREATE TABLE n (id INTEGER, x text NOT NULL, PRIMARY KEY (id), UNIQUE (x))"]),
        ("ALTER TABLE sales ADD COLUMN paid INTEGER DEFAULT 1 CHECK (paid <> 2)",
         ["ALTER TABLE sales ADD COLUMN paid INTEGER DEFAULT 1.0 CONSTRAINT most CHECK ((PAID != 2))"]),
        ("CREATE TABLE n (a INTEGER, b INTEGER GENERATED ALWAYS AS (a + 1), CHECK (a > 0), CHECK (b > 1))",
         ["CREATE TABLE n (a INTEGER CHECK (a > 0), b INTEGER AS (a+1) CHECK (b > 1))"]),
        ("CREATE TABLE n (id INTEGER PRIMARY KEY, item INTEGER REFERENCES items (id) NOT DEFERRABLE)",
         ["CREATE TABLE n (id INTEGER NOT NULL PRIMARY KEY, item INTEGER, FOREIGN KEY (item) REFERENCES items)"]),
        ("CREATE TABLE n (a INTEGER NOT NULL ON CONFLICT ABORT, b DECIMAL(10,2), x TEXT COLLATE BINARY DEFAULT 'a')",
         ['CREATE TABLE n (a INTEGER NOT NULL, b DECIMAL (10, 2), x TEXT DEFAULT "a")']),
        ("CREATE TABLE n (a INTEGER PRIMARY KEY, b INTEGER, UNIQUE (a, b) ON CONFLICT IGNORE) WITHOUT ROWID",
         ["CREATE TABLE n (a INTEGER, b INTEGER, PRIMARY KEY (a), UNIQUE (b, a) ON CONFLICT IGNORE) WITHOUT ROWID"]),
        (HOW_MANY, ["DROP VIEW dear", "create view dear as select id from items where price > 10"]),
        (HOW_MANY, ["ALTER TABLE items RENAME TO things", "ALTER TABLE things RENAME TO items"]),
        ("DROP VIEW dear; CREATE VIEW dear AS SELECT id FROM items",
         ["DROP VIEW dear", "CREATE VIEW dear AS SELECT items.id FROM items"]),
    ],
)  # fmt: skip
def test_what_the_gold_does_may_be_done_in_other_words(
    tmp_path: Any, gold: str, statements: list[str]
) -> None:
    verdict = judged(tmp_path, gold, *statements)
    assert verdict.outcome is Outcome.PASSED, verdict.marks


@pytest.mark.parametrize(
    ("gold", "other"),
    [
        ("CREATE TRIGGER log AFTER INSERT ON sales BEGIN UPDATE items SET note = 'sold' WHERE id = new.item; END",
         "CREATE TRIGGER log AFTER INSERT ON sales BEGIN UPDATE items SET note = 'sold' WHERE new.item = id; END"),
        ("CREATE TABLE n (x INTEGER CHECK (x > 0))", "CREATE TABLE n (x INTEGER CHECK (x < 0))"),
        ("CREATE TABLE n (x INTEGER CHECK (x > 0))", "CREATE TABLE n (x INTEGER CHECK (1))"),
        ("CREATE TABLE n (x TEXT CHECK (x <> 'A'))", "CREATE TABLE n (x TEXT CHECK (x <> 'a'))"),
        ("CREATE TABLE n (a, b, s AS (a + b))", "CREATE TABLE n (a, b, s AS (a * b))"),
        ("CREATE TABLE n (at TEXT DEFAULT CURRENT_TIMESTAMP)", "CREATE TABLE n (at TEXT DEFAULT (datetime('now')))"),
        ("CREATE INDEX low ON items (lower(name))", "CREATE INDEX low ON items (upper(name))"),
        ("CREATE INDEX few ON items (price) WHERE price > 5", "CREATE INDEX few ON items (price) WHERE 5 < price"),
    ],
)  # fmt: skip
def test_where_nobody_can_tell_whether_other_words_come_to_the_same_it_is_not_graded(
    tmp_path: Any, gold: str, other: str
) -> None:
    assert judged(tmp_path, gold, gold).outcome is Outcome.PASSED
    verdict = judged(tmp_path, gold, other)
    assert verdict.outcome is Outcome.UNSCORED
    assert "in other words than the gold has" in verdict.marks[0].reason
