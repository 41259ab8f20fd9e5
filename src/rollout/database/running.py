"""Runs one statement, or a script of several, in a sandbox, and takes down what came of it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import TypeVar

from rollout.database.quoting import misreading
from rollout.database.rows import Row, json_row
from rollout.database.sandbox import TURNS, Sandbox
from rollout.database.statements import statements

FAILURES = (sqlite3.Error, sqlite3.Warning, ValueError, MemoryError, OverflowError)
"""What sqlite3 raises for what a statement says or needs."""

_Done = TypeVar("_Done")

_NO_MEMORY = "out of memory"
_MOST_COUNTED = 100_000
_MOST_PASSED_OVER = 100_000_000


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a statement came to: column names and rows as JSON values, or why it ``failed``.

    ``left_out`` counts the rows past the bound, which were looked at but not kept; where there were more than could be
    counted, ``uncounted`` is True. ``changed`` counts the rows that were changed, None where there are none to count.
    ``wrote`` says whether it changed anything or could have.
    """

    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    left_out: int = 0
    uncounted: bool = False
    changed: int | None = None
    wrote: bool = False
    failed: str | None = None


def run(
    sandbox: Sandbox, sql: str, *, most_rows: int, most_bytes: int = 2**62, steps: int | None = None
) -> Outcome:
    """Runs one statement; never raises for what it says.

    At most ``most_rows`` rows are kept, and rows of at most ``most_bytes`` bytes in all, but always the first. A
    statement that fails has changed nothing, unless it says OR FAIL.
    """

    def attempt() -> Outcome:
        cursor = sandbox.execute(sql, steps=steps)
        try:
            return _fetch(sandbox, cursor, most_rows, most_bytes)
        finally:
            cursor.close()

    try:
        return with_memory(attempt)
    except FAILURES as error:
        return Outcome(wrote=sandbox.wrote, failed=sandbox.why(error))


def run_strictly(sandbox: Sandbox, sql: str, *, most_rows: int, most_bytes: int = 2**62) -> Outcome:
    """The same for one of an author's statements, which fails where SQLite would take a missing name for a text."""
    if (reason := misreading(sandbox, sql)) is not None:
        return Outcome(failed=reason)
    return run(sandbox, sql, most_rows=most_rows, most_bytes=most_bytes)


def run_all(sandbox: Sandbox, script: str, *, most_rows: int, most_bytes: int = 2**62) -> Outcome:
    """Runs an author's statements strictly, one after the other, up to the first that fails.

    The rows are those of the last statement, unless it writes; ``wrote`` says whether any of them did.
    """
    outcome = Outcome(failed="it holds no statement")
    wrote = False
    for start, end in statements(script):
        outcome = run_strictly(sandbox, script[start:end], most_rows=most_rows, most_bytes=most_bytes)
        wrote |= outcome.wrote
        if outcome.failed is not None:
            break
    rows = () if outcome.wrote else outcome.rows
    return replace(outcome, rows=rows, wrote=wrote)


def with_memory(attempt: Callable[[], _Done]) -> _Done:
    """Does ``attempt`` in its turn, and again alone where memory ran out."""
    for alone in (False, True):
        turn = TURNS.start(alone=alone)
        try:
            return attempt()
        except (MemoryError, sqlite3.OperationalError) as error:
            is_memory = isinstance(error, MemoryError) or str(error) == _NO_MEMORY
            if alone or not is_memory or not TURNS.had_company(turn):
                raise
        finally:
            TURNS.end()
    raise AssertionError


def weigh(rows: Iterable[Row]) -> int:
    """About how many bytes rows take up."""
    return sum(len(value) if isinstance(value, str) else 8 for row in rows for value in row)


def _fetch(sandbox: Sandbox, cursor: sqlite3.Cursor, most_rows: int, most_bytes: int) -> Outcome:
    if cursor.description is None:
        changed = cursor.rowcount if cursor.rowcount >= 0 else None
        return Outcome(changed=changed, wrote=sandbox.wrote)
    columns = tuple(str(column[0]) for column in cursor.description)
    rows: list[Row] = []
    size = left_out = passed_over = 0
    for values in cursor:
        if left_out >= _MOST_COUNTED or passed_over > _MOST_PASSED_OVER:
            return Outcome(columns, tuple(rows), left_out, True, None, sandbox.wrote)
        if left_out or len(rows) >= most_rows:
            left_out += 1
            passed_over += sum(len(value) for value in values if isinstance(value, str | bytes))
            continue
        row = json_row(values)
        size += weigh((row,))
        if rows and size > most_bytes:
            left_out += 1
            continue
        rows.append(row)
    written = len(rows) + left_out if sandbox.wrote else None
    return Outcome(columns, tuple(rows), left_out, False, written, sandbox.wrote)


__all__ = ["FAILURES", "Outcome", "run", "run_all", "run_strictly", "weigh", "with_memory"]
