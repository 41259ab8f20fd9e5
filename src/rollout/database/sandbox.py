"""A SQLite connection that is shut in: in memory, with bounds on work, memory and sizes, and no way out.

What a statement may do is decided when it is prepared, by an authorizer. How long it may run is counted in steps of
SQLite's virtual machine and not in seconds, so that the same statement is stopped at the same place on a busy machine
and an idle one; :meth:`Sandbox.interrupt` is there for what takes long within one step.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from enum import Enum
from threading import Condition
from typing import NamedTuple

from rollout.database.clock import Dice, stop_clock
from rollout.database.formatting import Value, printf
from rollout.database.searching import as_text, instr, replace

STEPS = 50_000_000
"""How many steps one statement may take: about a second."""

LONGEST_VALUE = 1_000_000
"""Bytes that a value may have in a statement of an agent, or a gold query."""

LONGEST_SEEDED = 50_000_000
LARGEST_DATABASE = 256 * 2**20
"""Bytes that a value of the seed, and a whole database, may have."""

MEMORY = 512 * 2**20
"""Bytes that all of SQLite may use in this process."""

_PAGE = 4096
_STRIDE = 100_000
_LONGEST_STATEMENT = 200_000
_LONGEST_PATTERN = 1_000


class Access(Enum):
    """What statements may do: build anything, change what is there, or only look."""

    BUILD = "build"
    WRITE = "write"
    READ = "read"


_LOOK = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
    sqlite3.SQLITE_PRAGMA,
}
_CLOSED = {sqlite3.SQLITE_ATTACH, sqlite3.SQLITE_DETACH}
_TRANSACTIONS = {sqlite3.SQLITE_TRANSACTION, sqlite3.SQLITE_SAVEPOINT}
_ROWS = {sqlite3.SQLITE_INSERT, sqlite3.SQLITE_UPDATE, sqlite3.SQLITE_DELETE}
_VIRTUAL = {sqlite3.SQLITE_CREATE_VTABLE, sqlite3.SQLITE_DROP_VTABLE}
_FUNCTIONS = {"load_extension", "fts3_tokenizer"}
# sqlite_stmt lists the statements of a connection.
_TABLES = {"sqlite_stmt", "sqlite_dbpage"}

# What a table-valued function does where it is first named; SQLite refuses it to everybody else.
_DECLARATION = (sqlite3.SQLITE_UPDATE, "sqlite_master")

# These only ever answer; the others do only without a value.
_ANSWERING = {
    "collation_list",
    "database_list",
    "foreign_key_check",
    "foreign_key_list",
    "function_list",
    "index_info",
    "index_list",
    "index_xinfo",
    # Which SQLite asks itself where a CHECK is added.
    "quick_check",
    "table_info",
    "table_list",
    "table_xinfo",
}
_WITHOUT_VALUE = {
    "data_version",
    "encoding",
    "foreign_keys",
    "page_count",
    "page_size",
    "schema_version",
    "user_version",
}
_SET_WHILE_BUILDING = {"foreign_keys", "user_version"}

OUTSIDE = "it reaches outside the database (ATTACH, VACUUM INTO) or sets a PRAGMA, which environments may not"
CLOSED = "nothing outside the database can be reached, and it cannot be rebuilt (ATTACH, VACUUM)"
READ_ONLY = "the database is read-only, so only queries are possible"
ONE_BY_ONE = "transactions are not possible, as every statement takes effect by itself"
TOO_LONG = "it takes too long and was stopped"
TOO_LARGE = "it needs too much memory and was stopped"
TOO_FULL = "the database would become too large"
SEVERAL = "it holds more than one statement"


class Sandbox:
    """A connection to a database in memory, empty or filled from an image.

    ``access`` may be changed between two statements. ``wrote`` says whether the statement that was prepared last
    changes anything, ``touched`` in which tables it changes rows, and ``redefined`` whether it does anything else, such
    as ALTER TABLE, after which no table is known to be as it was. ``steps_left`` says how many steps it may still take.
    Safe to be used by several threads one after the other.
    """

    def __init__(
        self,
        moment: datetime,
        *,
        access: Access = Access.READ,
        image: bytes | None = None,
        foreign_keys: bool = False,
        room: int = LARGEST_DATABASE,
    ) -> None:
        self.access = access
        self.wrote = False
        self.touched: set[str] = set()
        self.redefined = False
        self._refused: str | None = None
        self.steps_left = STEPS
        self._stopped = False
        # No statement is kept, so that sqlite_stmt could not tell of others even if it could be read.
        self.connection = sqlite3.connect(
            ":memory:", isolation_level=None, check_same_thread=False, cached_statements=0
        )
        connection = self.connection
        connection.text_factory = _text
        connection.execute(f"PRAGMA hard_heap_limit = {MEMORY}").close()
        connection.execute("PRAGMA temp_store = MEMORY").close()
        connection.execute("PRAGMA trusted_schema = ON").close()
        if image is not None:
            connection.deserialize(image)
        connection.execute(f"PRAGMA max_page_count = {max(room // _PAGE, 1)}").close()
        if foreign_keys:
            connection.execute("PRAGMA foreign_keys = ON").close()
        stop_clock(connection, moment)
        self.dice = Dice(connection)
        for name in ("trim", "ltrim", "rtrim"):
            connection.create_function(name, 2, _TRIMS[name], deterministic=True)
        for name in ("printf", "format"):
            connection.create_function(name, -1, printf, deterministic=True)
        connection.create_function("instr", 2, instr, deterministic=True)
        connection.create_function("replace", 3, replace, deterministic=True)
        # What virtual tables keep their rows in. They prepare statements to write there whenever they are loaded.
        listed = connection.execute("SELECT name FROM pragma_table_list WHERE type = 'shadow'").fetchall()
        self._shadows = {str(name) for (name,) in listed}
        if access is Access.READ:
            connection.execute("PRAGMA query_only = ON").close()
        self._limit()
        connection.set_progress_handler(self._count, _STRIDE)
        connection.set_authorizer(self._authorize)

    def _limit(self) -> None:
        building = self.access is Access.BUILD
        limit = self.connection.setlimit
        limit(sqlite3.SQLITE_LIMIT_LENGTH, LONGEST_SEEDED if building else LONGEST_VALUE)
        limit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, LONGEST_SEEDED if building else _LONGEST_STATEMENT)
        limit(sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH, _LONGEST_PATTERN)
        limit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
        limit(sqlite3.SQLITE_LIMIT_WORKER_THREADS, 0)

    def execute(self, sql: str, *, steps: int | None = None) -> sqlite3.Cursor:
        """Starts one statement with a fresh allowance of steps, for itself and for fetching its rows.

        Raises what sqlite3 raises; :meth:`why` says it in words.
        """
        self.wrote, self.redefined, self._refused, self._stopped = False, False, None, False
        self.touched.clear()
        self.steps_left = STEPS if steps is None else steps
        return self.connection.execute(sql)

    def interrupt(self) -> None:
        """Stops the running statement, from another thread."""
        self._stopped = True
        self.connection.interrupt()

    def close(self) -> None:
        """Gives back the memory."""
        self.connection.close()

    def why(self, error: BaseException) -> str:
        """SQLite's reason as words that a person who did not write the sandbox understands."""
        reason = str(error)
        if self._refused is not None:
            return self._refused
        if isinstance(error, MemoryError) or reason == "out of memory":
            return TOO_LARGE
        if reason == "database or disk is full":
            return TOO_FULL
        if reason == "attempt to write a readonly database":
            return READ_ONLY
        if self._stopped or reason == "interrupted":
            return TOO_LONG
        if reason == "You can only execute one statement at a time.":
            return SEVERAL
        if reason == "string or blob too big":
            return f"a value in it is longer than {LONGEST_VALUE:,} bytes"
        if isinstance(error, UnicodeEncodeError):
            return "it holds half of a surrogate pair, which is no character"
        return reason or type(error).__name__

    def _count(self) -> bool:
        self.steps_left -= _STRIDE
        if self.steps_left < 0:
            self._stopped = True
        return self._stopped

    def _authorize(
        self, action: int, first: str | None, second: str | None, database: str | None, trigger: str | None
    ) -> int:
        if action == sqlite3.SQLITE_READ:
            return self._refuse(f"“{first}” cannot be read") if first in _TABLES else sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION:
            if (second or "").lower() in _FUNCTIONS:
                return self._refuse(f"the function {second} cannot be used")
            return sqlite3.SQLITE_OK
        if action in _CLOSED:
            return self._refuse(OUTSIDE if self.access is Access.BUILD else CLOSED)
        if action == sqlite3.SQLITE_PRAGMA:
            return self._pragma((first or "").lower(), second)
        if action in _LOOK or self.access is Access.BUILD or (action, first) == _DECLARATION:
            return sqlite3.SQLITE_OK
        if action in _TRANSACTIONS:
            return self._refuse(ONE_BY_ONE)
        if self.access is Access.READ:
            if first in self._shadows and action in _ROWS:
                return sqlite3.SQLITE_OK  # which “query_only” keeps from being carried out
            self.wrote = True
            return self._refuse(READ_ONLY)
        if action in _VIRTUAL:
            return self._refuse("virtual tables cannot be made or dropped")
        self.wrote = True
        if action in _ROWS and first is not None:
            self.touched.add(first)
        else:
            self.redefined = True
        return sqlite3.SQLITE_OK

    def _pragma(self, name: str, value: str | None) -> int:
        if name in _ANSWERING or (name in _WITHOUT_VALUE and value is None):
            return sqlite3.SQLITE_OK
        if self.access is Access.BUILD and name in _SET_WHILE_BUILDING:
            return sqlite3.SQLITE_OK
        return self._refuse(OUTSIDE if self.access is Access.BUILD else f"PRAGMA {name} cannot be used")

    def _refuse(self, why: str) -> int:
        self._refused = self._refused or why
        return sqlite3.SQLITE_DENY


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _trim(left: bool, right: bool) -> Callable[[Value, Value], str | None]:
    # SQLite compares every character with every character to trim, for which two long texts are enough to hang.
    def trim(value: Value, characters: Value) -> str | None:
        if value is None or characters is None:
            return None
        text, drop = as_text(value), set(as_text(characters))
        start, end = 0, len(text)
        while left and start < end and text[start] in drop:
            start += 1
        while right and end > start and text[end - 1] in drop:
            end -= 1
        return text[start:end]

    return trim


_TRIMS = {"trim": _trim(True, True), "ltrim": _trim(True, False), "rtrim": _trim(False, True)}


class Turn(NamedTuple):
    """One turn: which it is, and whether nothing else ran when it began."""

    number: int
    was_first: bool


class Turns:
    """Lets statements run side by side, and one of them alone where memory ran out.

    The bound on memory is the process's, so a modest statement can be hit by what a greedy one took. Done again alone,
    only the greedy one fails, whatever else was going on.
    """

    def __init__(self) -> None:
        self._free = Condition()
        self._started = 0
        self._running = 0
        self._waiting = 0
        self._alone = False

    def start(self, *, alone: bool = False) -> Turn:
        """Waits for its turn."""
        with self._free:
            self._waiting += alone
            while self._alone or (self._running if alone else self._waiting):
                self._free.wait()
            self._waiting -= alone
            self._alone = alone
            self._running += 1
            self._started += 1
            return Turn(self._started, self._running == 1)

    def had_company(self, turn: Turn) -> bool:
        """Whether others ran at any time since the turn began."""
        with self._free:
            return not turn.was_first or self._started != turn.number

    def end(self) -> None:
        """Lets others have theirs."""
        with self._free:
            self._running -= 1
            self._alone = False
            self._free.notify_all()


TURNS = Turns()

__all__ = [
    "LARGEST_DATABASE",
    "LONGEST_VALUE",
    "READ_ONLY",
    "SEVERAL",
    "STEPS",
    "TOO_LONG",
    "TURNS",
    "Access",
    "Sandbox",
    "Turn",
    "Turns",
]
