"""Double-quoted words that name nothing, which SQLite takes for texts instead of saying so.

``SELECT "nme" FROM people`` answers ``nme`` for every row. In backticks a word is a name and nothing else, so that the
same statement with those says what is wrong. See https://www.sqlite.org/quirks.html#dblquote.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from datetime import datetime

from rollout.database.sandbox import Access, Sandbox

_WRITTEN = re.compile(
    r"""--[^\n]*|/\*.*?(?:\*/|\Z)|'[^']*'|`[^`]*`|\[[^\]]*\]|(?P<word>"[^"]*"(?:"[^"]*")*)""", re.DOTALL
)
# What is in the parentheses is the module's own, and no name.
_VIRTUAL = re.compile(r"\s*CREATE\s+VIRTUAL\b", re.IGNORECASE)
_KEEPING = re.compile(r"\s*CREATE\s+(?:TEMP\w*\s+)?(?:VIEW|TRIGGER)\b", re.IGNORECASE)
_MISSING = re.compile(r"no such column: (?P<name>.+)", re.DOTALL)
_MISREAD = re.compile(
    r'no such column: (?P<word>"(?P<name>.+)"), which SQLite would take for a text', re.DOTALL
)


def misreading(sandbox: Sandbox, sql: str) -> str | None:
    """Why a statement means something else than it says, before it runs; None where it does not.

    That is that it names a column in double quotes which there is not. Nothing is run, and nothing raised.
    """
    names = _as_names(sql)
    return None if names is None else _missing(sandbox, names, _words(sql))


def misread_when_used(moment: datetime, script: Sequence[str]) -> Iterator[tuple[int, str]]:
    """The same of the views and triggers that ``script`` makes, which SQLite looks into when they are used.

    Gives the number of the statement, and the reason. Every statement of ``script`` is one that runs.
    """
    words = {number: _words(sql) for number, sql in enumerate(script) if _KEEPING.match(sql)}
    if not any(words.values()):
        return
    twin = Sandbox(moment, access=Access.BUILD)
    try:
        for sql in script:
            _run_as_names(twin, sql)
        every = frozenset().union(*words.values())
        for use in list(_uses(twin.connection)):
            if (reason := _missing(twin, use, every)) is not None:
                yield next(number for number, each in words.items() if misread_word(reason) in each), reason
    except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError, OverflowError):
        return  # as it is written it runs
    finally:
        twin.close()


def misread_word(reason: str) -> str | None:
    """The word that a reason of :func:`misreading` is about, without its quotes; None for any other reason."""
    found = _MISREAD.fullmatch(reason)
    return found["name"] if found else None


def _missing(sandbox: Sandbox, sql: str, words: frozenset[str]) -> str | None:
    """What of ``words`` keeps ``sql`` from being prepared, where it has them as names."""
    left = sandbox.steps_left
    try:
        sandbox.execute(f"EXPLAIN {sql}").close()
    except (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError) as error:
        found = _MISSING.fullmatch(str(error))
        if found is not None and found["name"] in words:
            return f'no such column: "{found["name"]}", which SQLite would take for a text'
    finally:
        sandbox.steps_left = left
    return None


def _run_as_names(sandbox: Sandbox, sql: str) -> None:
    if (names := _as_names(sql)) is not None:
        try:
            sandbox.execute(names).close()
            return
        except sqlite3.Error:
            pass  # that has been told of; what follows needs what it makes
    sandbox.execute(sql).close()


def _uses(connection: sqlite3.Connection) -> Iterator[str]:
    """For each view and trigger, statements that make SQLite look into it."""
    found = connection.execute(
        "SELECT DISTINCT type, tbl_name FROM sqlite_master WHERE type IN ('view', 'trigger')"
    ).fetchall()
    for kind, name in found:
        table = _in_quotes(str(name))
        if kind == "view":
            yield f"SELECT * FROM {table}"
            continue
        columns = [_in_quotes(str(row[1])) for row in connection.execute(f"PRAGMA table_info({table})")]
        yield f"DELETE FROM {table}"
        yield f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join(['NULL'] * len(columns))})"
        yield from (f"UPDATE {table} SET {column} = NULL" for column in columns)


def _as_names(sql: str) -> str | None:
    """One statement with its double-quoted words in backticks; None where it has none."""
    if '"' not in sql or _VIRTUAL.match(sql):
        return None
    written = _WRITTEN.sub(_in_backticks, sql)
    return None if written == sql else written


def _words(sql: str) -> frozenset[str]:
    """The double-quoted words of a statement, without their quotes."""
    words = (match["word"] for match in _WRITTEN.finditer(sql))
    return frozenset(_name(word) for word in words if word is not None)


def _in_quotes(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _in_backticks(match: re.Match[str]) -> str:
    if match["word"] is None:
        return match.group()
    return "`" + _name(match["word"]).replace("`", "``") + "`"


def _name(word: str) -> str:
    return word[1:-1].replace('""', '"')


__all__ = ["misread_when_used", "misread_word", "misreading"]
