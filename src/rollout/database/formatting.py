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

_SIZES = re.compile(r"%[-+ 0,#!]*(\*|\d+)?(?:\.(\*|\d+))?")
_PER_THREAD = threading.local()


def printf(form: Value = None, *values: Value) -> Value:
    """What SQLite's own function makes of it. Raises ValueError where that would be too long."""
    if isinstance(form, str | bytes):
        text = form if isinstance(form, str) else form.decode("utf-8", "replace")
        sizes = [size for found in _SIZES.finditer(text) for size in found.groups() if size]
        asked = sum(min(int(size), MOST + 1) if len(size) < 10 else MOST + 1 for size in sizes if size != "*")
        if "*" in sizes:
            # Which of the values are sizes is not worked out: that of them all is too much at once is rare enough.
            asked += sum(abs(value) for value in values if isinstance(value, int))
        if asked > MOST:
            raise ValueError("The widths of the format are too large.")
    places = ", ".join("?" * (1 + len(values)))
    written: Value = _own().execute(f"SELECT printf({places})", (form, *values)).fetchone()[0]
    return written


def _own() -> sqlite3.Connection:
    connection: sqlite3.Connection | None = getattr(_PER_THREAD, "connection", None)
    if connection is None:
        connection = _PER_THREAD.connection = sqlite3.connect(":memory:", isolation_level=None)
    return connection


__all__ = ["MOST", "printf"]
