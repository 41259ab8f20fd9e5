"""How tables, indexes, views and triggers are defined: the words, and what they come to whatever the words are."""

from __future__ import annotations

import sqlite3
from hashlib import sha256
from typing import Any

from rollout.database.contents import quote
from rollout.database.rows import json_row
from rollout.database.sandbox import STEPS, Sandbox
from rollout.database.statements import tokens
from rollout.language.canonical import canonical

_MOST_ROWS = 100_000

Definitions = dict[str, dict[str, str | None]]
"""By ``table loans`` or ``view late_loans``: digests of its ``words``, and of what it ``means``, None for triggers."""


def definitions(sandbox: Sandbox) -> Definitions:
    """How everything in a database is defined.

    The words are the same in capitals and small letters, in other quotes and with other white space. A table means its
    columns, keys and how many checks it has; an index the columns it has, and whether they are unique; a view the
    columns and rows that it shows now.
    """
    found: Definitions = {}
    steps = [STEPS]
    rows = _ask(sandbox, "SELECT type, name, sql FROM main.sqlite_master WHERE sql IS NOT NULL ORDER BY 1, 2")
    for kind, name, sql in rows:
        words = [
            token.name.casefold() if token.name is not None else token.text for token in tokens(str(sql))
        ]
        means = _MEANINGS[str(kind)](sandbox, str(name), words, steps) if kind in _MEANINGS else None
        found[f"{kind} {name}"] = {
            "words": _digest(words),
            "means": None if means is None else _digest(means),
        }
    return found


def _table(sandbox: Sandbox, name: str, words: list[str], _: list[int]) -> Any:
    columns = _ask(sandbox, f"PRAGMA main.table_xinfo({quote(name)})")
    indexes = _ask(sandbox, f"PRAGMA main.index_list({quote(name)})")
    unique = [
        sorted(
            str(row[2]).casefold() for row in _ask(sandbox, f"PRAGMA main.index_info({quote(str(each[1]))})")
        )
        for each in indexes
        if each[3] != "c"
    ]
    return [
        [
            [str(row[1]).casefold(), str(row[2]).upper(), row[3], _default(row[4]), row[5], row[6]]
            for row in columns
        ],
        sorted(unique),
        sorted(
            [str(value).casefold() for value in row[2:]]
            for row in _ask(sandbox, f"PRAGMA main.foreign_key_list({quote(name)})")
        ),
        [
            words.count(word)
            for word in ("check", "strict", "without", "autoincrement", "collate", "generated")
        ],
    ]


def _default(written: object) -> str | None:
    return None if written is None else "".join(token.text.casefold() for token in tokens(str(written)))


def _index(sandbox: Sandbox, name: str, words: list[str], _: list[int]) -> Any:
    columns = _ask(sandbox, f"PRAGMA main.index_xinfo({quote(name)})")
    return [
        words[words.index("on") + 1] if "on" in words else "",
        "unique" in words[:3],
        [[str(row[2]).casefold(), row[3], str(row[4]).upper()] for row in columns if row[5]],
        words[words.index("where") :] if "where" in words else [],
        # An expression has no name, so its words are all there is.
        words if any(row[1] == -2 for row in columns) else [],
    ]


def _view(sandbox: Sandbox, name: str, words: list[str], steps: list[int]) -> Any:
    try:
        cursor = sandbox.execute(f"SELECT * FROM main.{quote(name)}", steps=max(steps[0], 0))
        try:
            columns = [str(column[0]).casefold() for column in cursor.description]
            rows = cursor.fetchmany(_MOST_ROWS + 1)
        finally:
            cursor.close()
            steps[0] = sandbox.steps_left
    except (sqlite3.Error, ValueError, OverflowError, MemoryError):
        return ["unread", words]
    if len(rows) > _MOST_ROWS:
        return ["unread", words]
    return [columns, sorted(_digest(list(json_row(row))) for row in rows)]


_MEANINGS = {"table": _table, "index": _index, "view": _view}


def _digest(value: Any) -> str:
    return f"sha256:{sha256(canonical(value)).hexdigest()[:32]}"


def _ask(sandbox: Sandbox, sql: str) -> list[tuple[Any, ...]]:
    cursor = sandbox.execute(sql)
    try:
        return cursor.fetchall()
    finally:
        cursor.close()


__all__ = ["Definitions", "definitions"]
