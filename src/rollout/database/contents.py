"""What a database holds, in few words: for each table how many rows, a digest of them, and what has changed.

The digest does not depend on the order of rows, and takes numbers as numbers, to 12 digits. It makes the state that a
rollout left comparable without keeping the whole database.
"""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Collection, Iterator
from hashlib import sha256
from typing import Any

from rollout.database.rows import Row, json_row, json_value
from rollout.database.sandbox import Sandbox
from rollout.language.canonical import dump

MOST_CHANGES = 20
"""How many added and how many removed rows of a table are shown."""

_LONGEST_CELL = 500
_WIDEST = 100
_LARGEST_CHANGES = 20_000
_MOST_COMPARED = 50_000
_WORK = 20_000_000_000
_MODULUS = 2**256

Contents = dict[str, dict[str, Any]]
"""By table: ``columns``, ``rows`` (how many) and ``digest``."""


def contents(sandbox: Sandbox, *, known: Contents | None = None, stale: Collection[str] = ()) -> Contents:
    """What every table holds. Tables of ``known`` that are not ``stale`` are taken over from there."""
    found: Contents = {}
    for table in tables(sandbox):
        if known is not None and table in known and table not in stale:
            found[table] = known[table]
            continue
        columns, count, total = _table(sandbox, table)
        head = sha256(dump(columns)).digest()
        digest = sha256(head + total.to_bytes(32, "big") + str(count).encode()).hexdigest()
        found[table] = {"columns": columns, "rows": count, "digest": f"sha256:{digest[:32]}"}
    return found


def others(sandbox: Sandbox) -> list[str]:
    """The indexes, views and triggers, as ``view late_loans``, sorted."""
    rows = _ask(
        sandbox,
        "SELECT type || ' ' || name FROM sqlite_master WHERE type <> 'table' AND sql IS NOT NULL ORDER BY 1",
    )
    return [str(name) for (name,) in rows]


def tables(sandbox: Sandbox) -> list[str]:
    """The names of all tables, as they were made; those of a full-text index are one."""
    rows = _ask(
        sandbox,
        "SELECT m.name FROM sqlite_master AS m JOIN pragma_table_list AS l ON l.name = m.name "
        "AND l.schema = 'main' WHERE m.type = 'table' AND l.type <> 'shadow' "
        "AND m.name NOT LIKE 'sqlite|_%' ESCAPE '|' ORDER BY m.rowid",
    )
    return [str(name) for (name,) in rows]


def changes(before: Sandbox, after: Sandbox, table: str) -> dict[str, list[list[Any]]]:
    """The rows of a table that were added and removed, at most :data:`MOST_CHANGES` each, long cells cut.

    Empty where the table is too large to compare, or its columns are not the same.
    """
    if _columns(before, table) != _columns(after, table):
        return {}
    sides = []
    for sandbox in (before, after):
        rows = [json_row(row) for row in _limited(sandbox, table)]
        if len(rows) > _MOST_COMPARED:
            return {}
        sides.append(rows)
    old, new = (Counter(map(_row_text, rows)) for rows in sides)
    return {
        "added": _shown(sides[1], new - old),
        "removed": _shown(sides[0], old - new),
    }


def _shown(rows: list[Row], wanted: Counter[bytes]) -> list[list[Any]]:
    shown: list[list[Any]] = []
    size = 0
    for row in rows:
        text = _row_text(row)
        if wanted[text] > 0 and len(shown) < MOST_CHANGES and size < _LARGEST_CHANGES:
            wanted[text] -= 1
            shown.append([_cut(value) for value in row[:_WIDEST]])
            size += len(text)
    return shown


def _cut(value: Any) -> Any:
    return f"{value[:_LONGEST_CELL]}…" if isinstance(value, str) and len(value) > _LONGEST_CELL else value


def _table(sandbox: Sandbox, table: str) -> tuple[list[str], int, int]:
    cursor = sandbox.execute(f"SELECT * FROM main.{quote(table)}", steps=_WORK)
    try:
        columns = [str(column[0]) for column in cursor.description]
        count = total = 0
        for row in cursor:
            count += 1
            total = (total + int.from_bytes(sha256(_row_text(row)).digest(), "big")) % _MODULUS
        return columns, count, total
    finally:
        cursor.close()


def _limited(sandbox: Sandbox, table: str) -> Iterator[tuple[object, ...]]:
    yield from _ask(sandbox, f"SELECT * FROM main.{quote(table)} LIMIT {_MOST_COMPARED + 1}")


def _columns(sandbox: Sandbox, table: str) -> list[tuple[object, ...]]:
    return _ask(sandbox, f"PRAGMA main.table_xinfo({quote(table)})")


def _ask(sandbox: Sandbox, sql: str) -> list[tuple[object, ...]]:
    cursor = sandbox.execute(sql, steps=_WORK)
    try:
        return cursor.fetchall()
    except sqlite3.Error:
        return []
    finally:
        cursor.close()


def _row_text(row: Row | tuple[object, ...]) -> bytes:
    return dump([_rounded(json_value(value)) for value in row])


def _rounded(value: Any) -> Any:
    if not isinstance(value, float):
        return value
    rounded = float(f"{value:.12g}")
    return int(rounded) if rounded.is_integer() and abs(rounded) < 2**53 else rounded


def quote(name: str) -> str:
    """An identifier in quotes."""
    return '"' + name.replace('"', '""') + '"'


__all__ = ["MOST_CHANGES", "Contents", "changes", "contents", "others", "quote", "tables"]
