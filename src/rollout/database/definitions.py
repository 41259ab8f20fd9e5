"""How tables, indexes, views and triggers are defined: the words, and what they come to whatever the words are."""

from __future__ import annotations

import sqlite3
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, NamedTuple

from rollout.database.contents import quote
from rollout.database.rows import json_row, json_value, key
from rollout.database.sandbox import STEPS, Sandbox
from rollout.database.statements import Token, tokens
from rollout.database.table_clauses import clauses_of, literal, plain_word, plain_words
from rollout.language.canonical import canonical

_MOST_ROWS = 100_000

Definitions = dict[str, dict[str, str | None]]
"""By ``table loans`` or ``view late_loans``: digests of its ``words``, of its ``structure``, and its ``expressions``.

What differs in structure is not the same. Where only expressions differ, nobody can tell, nor where the structure is
None, as that of triggers is.
"""


class _Meaning(NamedTuple):
    structure: Any
    expressions: Any = ()


@dataclass(slots=True)
class _Reader:
    """What is at hand to tell what something means: the database, the names in it, and the steps left for views."""

    sandbox: Sandbox
    names: Collection[str]
    steps: int = STEPS

    def ask(self, sql: str) -> list[tuple[Any, ...]]:
        cursor = self.sandbox.execute(sql)
        try:
            return cursor.fetchall()
        finally:
            cursor.close()


def definitions(sandbox: Sandbox) -> Definitions:
    """How everything in a database is defined.

    The words are the same in capitals and small letters, in other quotes and with other white space. The structure of a
    table is its columns, keys and options, and whether it has checks; that of an index the columns it has, and whether
    they are unique; that of a view the columns and rows that it shows now. Expressions are those of checks, generated
    columns, defaults and indexes.
    """
    found: Definitions = {}
    reader = _Reader(sandbox, ())
    listed = reader.ask("SELECT type, name, sql FROM main.sqlite_master WHERE sql IS NOT NULL ORDER BY 1, 2")
    reader.names = _names(reader, [str(name) for kind, name, _ in listed if kind in ("table", "view")])
    for kind, name, sql in listed:
        written = tokens(str(sql))
        meaning = _MEANINGS[str(kind)](reader, str(name), written) if kind in _MEANINGS else None
        found[f"{kind} {name}"] = {
            "words": _digest([plain_word(token, reader.names) for token in written]),
            "structure": None if meaning is None else _digest(meaning.structure),
            "expressions": None if meaning is None else _digest(meaning.expressions),
        }
    return found


def _names(reader: _Reader, tables: Sequence[str]) -> set[str]:
    columns = [str(row[1]) for table in tables for row in _columns(reader, table)]
    return {name.casefold() for name in (*tables, *columns)}


def _columns(reader: _Reader, table: str) -> list[tuple[Any, ...]]:
    try:
        return reader.ask(f"PRAGMA main.table_xinfo({quote(table)})")
    except sqlite3.Error:
        return []  # of a view that no longer works


def _table(reader: _Reader, name: str, written: Sequence[Token]) -> _Meaning | None:
    if written[1].word == "VIRTUAL":
        return None
    clauses = clauses_of(written, reader.names)
    indexes = reader.ask(f"PRAGMA main.index_list({quote(name)})")
    columns = _columns(reader, name)
    keys = [row for row in columns if row[5]]
    # What stands for the number of a row is never NULL, whether or not it says so.
    is_row_number = len(keys) == 1 and all(each[3] != "pk" for each in indexes)
    defaults = {str(row[1]).casefold(): _default(row[4], reader.names) for row in columns}
    structure = [
        [
            [
                str(row[1]).casefold(),
                [token.text.upper() for token in tokens(str(row[2]))],
                bool(row[3]) and not (is_row_number and row[5]),
                defaults[str(row[1]).casefold()].structure,
                row[5],
                row[6],
            ]
            for row in columns
        ],
        sorted(
            sorted([str(row[2]).casefold(), str(row[4]).upper()] for row in _key_columns(reader, each[1]))
            for each in indexes
            if each[3] != "c"
        ),
        _foreign_keys(reader, name),
        sorted(clauses.deferred),
        sorted(clauses.conflicts),
        sorted(clauses.options),
        sorted((column, name) for column, name in clauses.collations.items() if name != "binary"),
        bool(clauses.checks),
    ]
    expressions = [
        sorted(clauses.checks),
        sorted(clauses.generated.items()),
        sorted((column, default.expressions) for column, default in defaults.items()),
    ]
    return _Meaning(structure, expressions)


def _default(written: object, names: Collection[str]) -> _Meaning:
    if written is None:
        return _Meaning(None)
    try:
        value = literal(str(written))
    except ValueError:
        return _Meaning("expression", plain_words(tokens(str(written)), names))
    return _Meaning(None if value is None else key(json_value(value)))


def _foreign_keys(reader: _Reader, name: str) -> list[Any]:
    found: dict[int, list[Any]] = defaultdict(list)
    for number, place, parent, column, target, *manner in reader.ask(
        f"PRAGMA main.foreign_key_list({quote(name)})"
    ):
        if target is None:
            keys = sorted((row[5], row[1]) for row in _columns(reader, str(parent)) if row[5])
            target = keys[place][1] if place < len(keys) else ""
        found[number].append([str(parent).casefold(), str(column).casefold(), str(target).casefold(), manner])
    return sorted(sorted(columns) for columns in found.values())


def _key_columns(reader: _Reader, index: object) -> list[tuple[Any, ...]]:
    return [row for row in reader.ask(f"PRAGMA main.index_xinfo({quote(str(index))})") if row[5]]


def _index(reader: _Reader, name: str, written: Sequence[Token]) -> _Meaning:
    columns = _key_columns(reader, name)
    outside = [(token.word, number) for number, token in enumerate(written) if token.depth == 0]
    on = next(number for word, number in outside if word == "ON")
    where = next((number for word, number in outside if word == "WHERE"), None)
    # An expression has no name, so its words are all there is.
    end = len(written) if where is None else where
    structure = [
        plain_word(written[on + 1], reader.names),
        "UNIQUE" in [word for word, number in outside if number < on],
        [[str(row[2]).casefold(), row[3], str(row[4]).upper()] for row in columns],
        where is not None,
    ]
    expressions = [
        plain_words(written[on + 2 : end], reader.names) if any(row[1] == -2 for row in columns) else [],
        [] if where is None else plain_words(written[where + 1 :], reader.names),
    ]
    return _Meaning(structure, expressions)


def _view(reader: _Reader, name: str, _: Sequence[Token]) -> _Meaning | None:
    sandbox = reader.sandbox
    try:
        cursor = sandbox.execute(f"SELECT * FROM main.{quote(name)}", steps=max(reader.steps, 0))
        try:
            columns = [str(column[0]).casefold() for column in cursor.description]
            rows = cursor.fetchmany(_MOST_ROWS + 1)
        finally:
            cursor.close()
            reader.steps = sandbox.steps_left
    except (sqlite3.Error, ValueError, OverflowError, MemoryError):
        return None
    if len(rows) > _MOST_ROWS:
        return None
    return _Meaning([columns, sorted(_digest(list(json_row(row))) for row in rows)])


_MEANINGS: dict[str, Callable[[_Reader, str, Sequence[Token]], _Meaning | None]] = {
    "table": _table,
    "index": _index,
    "view": _view,
}


def _digest(value: Any) -> str:
    return f"sha256:{sha256(canonical(value)).hexdigest()[:32]}"


__all__ = ["Definitions", "definitions"]
