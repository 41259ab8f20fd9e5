"""SQLite's ``printf`` and ``format``, which no longer write on and on: widths are looked at before anything is written.

SQLite writes what a width or a precision asks for character by character, and nothing can stop it between two.
See https://www.sqlite.org/printf.html.
"""

from __future__ import annotations

import re
import sqlite3
import threading

Value = str | bytes | int | float | None

MOST = 1_000_000
"""Characters that the widths and precisions of one format may ask for, all together."""

_CONVERSION = re.compile(r"%[-+ 0,#!]*(\*|\d+)?(?:\.(\*|\d+))?[lh]*(.)?", re.DOTALL)
_WHOLE = re.compile(r"\s*[-+]?\d+", re.ASCII)
_DIGITS = 12
_PER_THREAD = threading.local()


def printf(form: Value = None, *values: Value) -> Value:
    """What SQLite's own function makes of it. Raises OverflowError where that would be too long, as SQLite says it."""
    if isinstance(form, str | bytes):
        text = form if isinstance(form, str) else form.decode("utf-8", "replace")
        if _asked(text, values) > MOST:
            raise OverflowError("string or blob too big")
    places = ", ".join("?" * (1 + len(values)))
    written: Value = _own().execute(f"SELECT printf({places})", (form, *values)).fetchone()[0]
    return written


def _asked(text: str, values: tuple[Value, ...]) -> int:
    """How many characters the widths and precisions of a format ask for; ``*`` takes its size from the values."""
    asked, place = 0, 0
    for width, precision, kind in _CONVERSION.findall(text):
        for size in (width, precision):
            if size == "*":
                asked += abs(_whole(values[place])) if place < len(values) else 0
                place += 1
            elif size:
                asked += int(size) if len(size) < _DIGITS else MOST + 1
        if kind not in ("%", "n", ""):
            place += 1
    return asked


def _whole(value: Value) -> int:
    """The size that SQLite makes of a value: texts and reals become whole numbers."""
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    if isinstance(value, str):
        found = _WHOLE.match(value)
        digits = found.group().strip() if found else "0"
        return int(digits) if len(digits) < _DIGITS else MOST + 1
    if isinstance(value, float):
        return int(value) if abs(value) < MOST else MOST + 1
    return value or 0


def _own() -> sqlite3.Connection:
    connection: sqlite3.Connection | None = getattr(_PER_THREAD, "connection", None)
    if connection is None:
        connection = _PER_THREAD.connection = sqlite3.connect(":memory:", isolation_level=None)
        # A text that was cast from bytes need not be UTF-8.
        connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST)
    return connection


__all__ = ["MOST", "printf"]
