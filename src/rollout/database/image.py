"""Builds an environment's database once, and hands out copies of it.

The finished database is kept as bytes. Queries of agents who may only look are run on a few connections that they take
turns on, since nothing a query does can be told afterwards; whoever may write gets a copy of their own.
"""

from __future__ import annotations

import sqlite3
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from threading import Lock
from typing import Any
from weakref import WeakValueDictionary

from rollout.database import DatabaseError, DatabaseSpec
from rollout.database.clock import current_moment, read_clock
from rollout.database.contents import quote
from rollout.database.echoes import filled_by, is_echo, unmade_by
from rollout.database.faults import ORPHANED, fault_in
from rollout.database.quoting import misread_when_used, misread_word, misreading
from rollout.database.running import FAILURES, Outcome, run_strictly, weigh, with_memory
from rollout.database.sandbox import LARGEST_DATABASE, Access, Sandbox
from rollout.database.statements import statements

ROWS = 100_000
"""How many rows of a gold query are read."""

BYTES = 50_000_000
"""How many bytes they may have in all."""

LIGHT = 100_000
"""How many bytes an answer may have that is kept for the next time."""

_WITHOUT_SQLGLOT = (
    "“dialect” needs the package sqlglot. Install it: pip install 'rolloutdev[sql]', in a clone -e '.[sql]'"
)
_ROOM = 8 * 2**20
_MOST_IDLE = 4
# For all statements of schema and seed together: a few seconds.
_BUILDING_STEPS = 200_000_000


@dataclass(frozen=True, slots=True)
class SqlFailure:
    """A statement that did not run: where it stands in its text (``start`` to ``end``), and the reason in words.

    ``key`` is ``schema``, ``seed``, or ``now`` and ``dialect``, which have no place within their text.
    """

    key: str
    start: int
    end: int
    reason: str


class Image:
    """A database as it is before every rollout. ``failures`` are the statements that could not be run."""

    def __init__(self, spec: DatabaseSpec) -> None:
        self.spec = spec
        self.failures: tuple[SqlFailure, ...] = ()
        self.moment: datetime = current_moment()
        self._tables: dict[str, tuple[str, ...]] = {}
        self._answers: dict[str, Outcome] = {}
        self.golds: dict[str, Any] = {}
        self._idle: deque[Sandbox] = deque()
        self._bytes = b""
        self._foreign_keys = False
        if spec.now is not None:
            try:
                self.moment = read_clock(spec.now)
            except DatabaseError as error:
                self.failures = (SqlFailure("now", 0, len(spec.now), str(error)),)
        self._build()

    def _build(self) -> None:
        builder = Sandbox(self.moment, access=Access.BUILD)
        builder.steps_left = _BUILDING_STEPS
        failures = list(self.failures)
        try:
            for key, text, parts in _translated(self.spec, self.moment, failures):
                failed = list(_run_parts(builder, key, text, parts))
                if key == "schema" and all(misread_word(each.reason) is not None for each in failed):
                    failed += [
                        _failure(key, text, parts[number], reason)
                        for number, reason in misread_when_used(self.moment, [sql for _, _, sql in parts])
                    ]
                failures += failed
                if (failed and key == "schema") or builder.steps_left <= 0:
                    break  # the seed would only repeat what is missing
            connection = builder.connection
            if connection.in_transaction:
                connection.execute("COMMIT")
            # Databases of other dialects always check them.
            self._foreign_keys = _is_foreign(self.spec) or bool(
                connection.execute("PRAGMA foreign_keys").fetchone()[0]
            )
            self._tables = _columns(connection)
            # A database that nothing was ever written to has no bytes.
            if connection.execute("PRAGMA page_count").fetchone()[0]:
                self._bytes = connection.serialize()
        finally:
            builder.close()
        self.failures = tuple(failures)

    @property
    def foreign_keys(self) -> bool:
        """Whether the schema turned the checking of foreign keys on."""
        return self._foreign_keys

    def tables(self) -> dict[str, tuple[str, ...]]:
        """Every table and view with its columns."""
        return self._tables

    def copy(self, access: Access) -> Sandbox:
        """A database of one's own. Raises MemoryError when there is no room for it."""
        room = min(2 * len(self._bytes) + _ROOM, 2 * LARGEST_DATABASE)
        return with_memory(
            lambda: Sandbox(
                self.moment,
                access=access,
                image=self._bytes or None,
                foreign_keys=self._foreign_keys,
                room=room,
            )
        )

    @contextmanager
    def lent(self) -> Iterator[Sandbox]:
        """A database to look at, given back at the end."""
        try:
            sandbox = self._idle.pop()
        except IndexError:
            sandbox = self.copy(Access.READ)
        try:
            yield sandbox
        finally:
            if len(self._idle) < _MOST_IDLE:
                self._idle.append(sandbox)
            else:
                sandbox.close()

    def ask(self, query: str) -> Outcome:
        """What a query comes to on a clean copy; the answer is kept. Never raises for what the query says."""
        known = self._answers.get(query)
        if known is None:
            with self.lent() as sandbox:
                sandbox.dice.shake("gold")
                known = run_strictly(sandbox, query, most_rows=ROWS, most_bytes=BYTES)
            if len(self._answers) < 10_000 and len(known.rows) < 1_000 and weigh(known.rows) < LIGHT:
                self._answers[query] = known
        return known

    def close(self) -> None:
        """Gives back the idle connections; copies are closed by whoever has them."""
        while self._idle:
            self._idle.pop().close()

    def __del__(self) -> None:
        if hasattr(self, "_idle"):
            self.close()


def _translated(
    spec: DatabaseSpec, moment: datetime, failures: list[SqlFailure]
) -> Iterator[tuple[str, str, list[tuple[int, int, str]]]]:
    """Schema and seed, each as its text and its statements: where they stand, and what SQLite is to run."""
    if spec.dialect is None or not _is_foreign(spec):
        for key, text in (("schema", spec.schema), ("seed", spec.seed)):
            yield key, text, [(start, end, text[start:end]) for start, end in statements(text)]
        return
    try:
        from rollout.database.dialects import Translator
        from rollout.database.foreign_statements import UntranslatableError
    except ModuleNotFoundError as error:
        if error.name != "sqlglot":
            raise
        failures.append(SqlFailure("dialect", 0, len(spec.dialect), _WITHOUT_SQLGLOT))
        return
    try:
        translator = Translator(spec.dialect, moment, read_only=spec.read_only)
    except DatabaseError as error:
        failures.append(SqlFailure("dialect", 0, len(spec.dialect), str(error)))
        return
    for key, text in (("schema", spec.schema), ("seed", spec.seed)):
        try:
            parts = list(translator.translate(text))
        except UntranslatableError as error:
            failures += [SqlFailure(key, start, end, reason) for start, end, reason in error.places]
            return
        yield key, text, parts


def _is_foreign(spec: DatabaseSpec) -> bool:
    return spec.dialect is not None and spec.dialect.lower() != "sqlite"


def _run_parts(
    builder: Sandbox, key: str, text: str, parts: list[tuple[int, int, str]]
) -> Iterator[SqlFailure]:
    unmade: frozenset[str] = frozenset()
    unfilled: set[str | None] = set()
    for part in parts:
        if (failure := _run_part(builder, key, text, part)) is not None:
            table = filled_by(part[2])
            is_orphan = failure.reason == ORPHANED and not unfilled.isdisjoint(_parents(builder, table))
            if not is_orphan and not is_echo(failure.reason, unmade):
                yield failure
            unmade |= unmade_by(part[2])
            unfilled.add(table)
        if builder.steps_left <= 0:
            return


def _run_part(builder: Sandbox, key: str, text: str, part: tuple[int, int, str]) -> SqlFailure | None:
    sql = part[2]
    reason = misreading(builder, sql)
    try:
        with_memory(lambda: builder.execute(sql, steps=builder.steps_left).close())
    except FAILURES as error:
        reason = builder.why(error)
    return None if reason is None else _failure(key, text, part, reason, builder)


def _parents(builder: Sandbox, table: str | None) -> list[str]:
    """The other tables, in small letters, that rows of ``table`` refer to."""
    if table is None:
        return []
    rows = builder.connection.execute(f"PRAGMA foreign_key_list({quote(table)})").fetchall()
    return [parent for row in rows if (parent := str(row[2]).lower()) != table]


def _failure(
    key: str, text: str, part: tuple[int, int, str], reason: str, builder: Sandbox | None = None
) -> SqlFailure:
    start, end, sql = part
    found = fault_in(text[start:end], sql, reason, builder)
    if found is not None:
        return SqlFailure(key, start + found[0], start + found[1], reason)
    first_line = text.find("\n", start, end)
    return SqlFailure(key, start, first_line if first_line >= 0 else end, reason)


def _columns(connection: sqlite3.Connection) -> dict[str, tuple[str, ...]]:
    names = connection.execute(
        "SELECT name FROM sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite|_%' ESCAPE '|'"
    ).fetchall()
    columns: dict[str, tuple[str, ...]] = {}
    for (name,) in names:
        try:
            rows = connection.execute(f"PRAGMA table_info({quote(str(name))})").fetchall()
        except sqlite3.Error:
            rows = []
        columns[str(name)] = tuple(str(row[1]) for row in rows)
    return columns


_images: WeakValueDictionary[DatabaseSpec, Image] = WeakValueDictionary()
_recent: deque[Image] = deque(maxlen=4)
_lock = Lock()


def image_of(spec: DatabaseSpec) -> Image:
    """The image of a database, built when it is first asked for and shared while somebody has it.

    Those who run and those who judge thereby see one clock.
    """
    with _lock:
        image = _images.get(spec)
        if image is None:
            image = _images[spec] = Image(spec)
        if image not in _recent:
            _recent.append(image)
        return image


__all__ = ["BYTES", "LIGHT", "ROWS", "Image", "SqlFailure", "image_of"]
