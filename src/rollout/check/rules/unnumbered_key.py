"""A table's key is of a type that SQLite does not number.

SQLite numbers only an `INTEGER PRIMARY KEY` by itself. It takes `SERIAL`, which other databases number, and `INT` as
well, without a word, and where a row is inserted without an id, the id is NULL: joins find nothing, and gold queries
come to other rows than they were written for. Say which dialect the schema is in, or write the type that SQLite
numbers.

Before:

    schema: CREATE TABLE sales (id SERIAL PRIMARY KEY, day TEXT);

After:

    dialect: postgres
    schema: CREATE TABLE sales (id SERIAL PRIMARY KEY, day TEXT);
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.database.golds import evaluate
from rollout.diagnostics import Severity
from rollout.source.inside import span_inside

CODE = "RL355"
SEVERITY = Severity.WARNING

_NAME = r"(?:\"[^\"]+\"|`[^`]+`|\[[^\]]+\]|\w+)"
_TABLE = re.compile(
    rf"\bCREATE\s+TABLE\s+(?:IF\s+NOT\s+EXISTS\s+)?(?P<table>{_NAME})\s*\((?P<body>[^;]*)", re.IGNORECASE
)
_COLUMN = re.compile(
    rf"(?P<column>{_NAME})\s+(?P<type>(?:BIG|SMALL)?SERIAL|(?:BIG|SMALL|TINY|MEDIUM)?INT\d?)\b(?P<rest>[^,]*)",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"--[^\n]*|/\*.*?\*/", re.DOTALL)


def check(subject: Subject) -> Iterator[Finding]:
    database, text = subject.database, subject.document.value.get("schema")
    dialect = subject.document.value.get("dialect") or "sqlite"
    if database is None or database.failures or not isinstance(text, str) or str(dialect).lower() != "sqlite":
        return
    place = subject.document.place.child("schema")
    bare = _COMMENT.sub(lambda found: " " * len(found[0]), text)
    for table in _TABLE.finditer(bare):
        for column in _COLUMN.finditer(bare, table.start("body"), table.end("body")):
            is_serial = column["type"].upper().endswith("SERIAL")
            is_key = re.search(r"\bPRIMARY\s+KEY\b", column["rest"], re.IGNORECASE) is not None
            if not is_serial and not (is_key and _is_null(database, table["table"], column["column"])):
                continue
            name = quoted(column["column"].strip('"`[]'))
            yield Finding(
                ("schema",),
                f"SQLite does not number {name}, which is {column['type']}: where a row gives no value, it is NULL.",
                "Did you mean “dialect: postgres”? Else write INTEGER PRIMARY KEY."
                if is_serial
                else "Write INTEGER PRIMARY KEY, or give every row of the seed its id.",
                span=span_inside(place, text, column.start("type"), column.end("type")) if place else None,
            )


def _is_null(database: Any, table: str, column: str) -> bool:
    found = evaluate(database, f"SELECT 1 FROM {table} WHERE {column} IS NULL LIMIT 1")
    return found.failed is None and bool(found.rows)
