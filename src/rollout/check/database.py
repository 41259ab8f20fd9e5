"""A SQL environment's database, built once in memory so that rules can ask it what it holds and what runs.

Nothing in a spec's SQL reaches beyond that database: ATTACH, extensions and anything that would touch a file are
refused, and a statement that runs for longer than :data:`SECONDS` is stopped.
"""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

SECONDS = 2.0
"""How long one statement of a spec may run while it is checked."""

ROWS = 100_000
"""How many rows of a gold query are read."""

LARGEST_VALUE = 50_000_000
LARGEST_DATABASE = 512_000_000
"""Bytes that one value, and the whole database, may take up."""

_NEAR = re.compile(r'near "(?P<token>.+)": |no such (?:table|column): (?P<name>\S+)', re.DOTALL)
_DENIED = {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH}
_READ_PRAGMAS = {
    "table_info",
    "foreign_keys",
    "foreign_key_list",
    "foreign_key_check",
    "index_list",
    "user_version",
}


@dataclass(frozen=True, slots=True)
class SqlFailure:
    """A statement that did not run: where it stands in its text (``start`` to ``end``), and SQLite's words."""

    key: str
    start: int
    end: int
    reason: str


@dataclass(frozen=True, slots=True)
class Answer:
    """What a query came to: column names and at most :data:`ROWS` rows, or why it ``failed``."""

    columns: tuple[str, ...]
    rows: tuple[tuple[object, ...], ...]
    failed: str | None


@dataclass(frozen=True, slots=True)
class Database:
    """The database after schema and seed, with what failed on the way."""

    connection: sqlite3.Connection
    failures: tuple[SqlFailure, ...]
    _answers: dict[str, Answer] = field(default_factory=dict)

    def tables(self) -> dict[str, tuple[str, ...]]:
        """Every table and view with its columns."""
        names = self.connection.execute(
            "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
        ).fetchall()
        columns: dict[str, tuple[str, ...]] = {}
        for (name,) in names:
            quoted = str(name).replace('"', '""')
            try:
                rows = self.connection.execute(f'PRAGMA table_info("{quoted}")').fetchall()
            except sqlite3.Error:
                rows = []
            columns[str(name)] = tuple(str(row[1]) for row in rows)
        return columns

    def run(self, query: str) -> Answer:
        """Runs one query and takes back whatever it changed; never raises for what a query says."""
        if (known := self._answers.get(query)) is not None:
            return known
        answer = self._answers[query] = self._run(query)
        return answer

    def _run(self, query: str) -> Answer:
        connection = self.connection
        connection.execute("SAVEPOINT rollout_check")
        try:
            with _time_limit(connection):
                cursor = connection.execute(query)
                rows = cursor.fetchmany(ROWS)
                names = tuple(str(column[0]) for column in cursor.description or ())
                cursor.close()
        except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
            return Answer((), (), plain_words(error))
        finally:
            if connection.in_transaction:
                connection.execute("ROLLBACK TO rollout_check")
                connection.execute("RELEASE rollout_check")
        return Answer(names, tuple(rows), None)


def build(schema: str, seed: str | None) -> Database:
    """Builds the database; statements that fail are noted and passed over, so that all of them show in one run."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, LARGEST_VALUE)
    connection.execute(f"PRAGMA max_page_count = {LARGEST_DATABASE // 4096}")
    connection.set_authorizer(_authorize)
    failures: list[SqlFailure] = []
    for key, text in (("schema", schema), ("seed", seed or "")):
        failed = False
        for start, end in statements(text):
            try:
                with _time_limit(connection):
                    connection.execute(text[start:end])
            except (sqlite3.Error, sqlite3.Warning, ValueError) as error:
                failures.append(_failure(key, text, start, end, plain_words(error)))
                failed = True
        if failed and key == "schema":
            break  # the seed would only repeat what is missing
    if connection.in_transaction:
        connection.execute("COMMIT")
    return Database(connection, tuple(failures))


def plain_words(error: Exception) -> str:
    """SQLite's reason as words that a person who did not write the sandbox understands."""
    reason = str(error)
    if reason in ("not authorized", "authorization denied"):
        return "it reaches outside the database (ATTACH, VACUUM INTO) or sets a PRAGMA, which environments may not"
    if reason == "interrupted":
        return f"it ran for longer than {SECONDS:g} seconds and was stopped"
    if reason == "You can only execute one statement at a time.":
        return "it holds more than one statement"
    return reason


def statements(text: str) -> Iterator[tuple[int, int]]:
    """The stretches of ``text`` that are one SQL statement each, without the white space and comments before them."""
    start = 0
    at = text.find(";")
    while at >= 0:
        if sqlite3.complete_statement(text[start : at + 1]):
            yield from _trimmed(text, start, at + 1)
            start = at + 1
        at = text.find(";", at + 1)
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end:
        if text[start].isspace() or text[start] == ";":
            start += 1
        elif text.startswith("--", start):
            newline = text.find("\n", start, end)
            start = end if newline < 0 else newline + 1
        elif text.startswith("/*", start):
            close = text.find("*/", start + 2, end)
            start = end if close < 0 else close + 2
        else:
            yield start, end
            return


def _failure(key: str, text: str, start: int, end: int, reason: str) -> SqlFailure:
    if quoted := _NEAR.match(reason):
        token = quoted["token"] or quoted["name"]
        found = text.find(token, start, end) if token else -1
        if found >= 0 and text.count(token, start, end) == 1:
            return SqlFailure(key, found, found + len(token), reason)
    first_line = text.find("\n", start, end)
    return SqlFailure(key, start, first_line if first_line >= 0 else end, reason)


def _authorize(
    action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
) -> int:
    if action in _DENIED:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_PRAGMA and (first or "").lower() not in _READ_PRAGMAS:
        return sqlite3.SQLITE_DENY
    if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() == "load_extension":
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK


class _time_limit:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def __enter__(self) -> None:
        deadline = time.monotonic() + SECONDS
        self.connection.set_progress_handler(lambda: time.monotonic() > deadline, 10_000)

    def __exit__(self, *_: object) -> None:
        self.connection.set_progress_handler(None, 0)


__all__ = ["ROWS", "SECONDS", "Answer", "Database", "SqlFailure", "build", "plain_words", "statements"]
