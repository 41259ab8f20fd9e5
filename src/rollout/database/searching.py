"""SQLite's ``instr`` and ``replace``, which no longer compare every place of a text with all of another.

Two long texts are enough to keep SQLite's own busy for minutes, in a single step that nothing interrupts.
See https://www.sqlite.org/lang_corefunc.html#instr and #replace.
"""

from __future__ import annotations

from rollout.database.formatting import MOST, Value

TOO_BIG = "string or blob too big"


def instr(value: Value, part: Value) -> int | None:
    """Where ``part`` begins in ``value``, from 1; 0 where it is not there. Bytes count where both are blobs."""
    if value is None or part is None:
        return None
    if isinstance(value, bytes) and isinstance(part, bytes):
        return value.find(part) + 1
    return as_text(value).find(as_text(part)) + 1


def replace(value: Value, part: Value, new: Value) -> Value:
    """``value`` with ``new`` in all places of ``part``. Raises OverflowError where that would be too long."""
    if value is None or part is None or new is None:
        return None
    searched = as_text(part)
    if not searched or searched[0] == "\0":
        return as_text(value) if isinstance(value, bytes) else value
    text, put = as_text(value), as_text(new)
    if len(put) > len(searched) and len(text) + text.count(searched) * (len(put) - len(searched)) > MOST:
        raise OverflowError(TOO_BIG)
    return text.replace(searched, put)


def as_text(value: Value) -> str:
    """A value as SQLite makes a text of it."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float):
        digits, _, exponent = f"{value:.15g}".partition("e")
        digits += "" if "." in digits or not digits.lstrip("-").isdigit() else ".0"
        return f"{digits}e{exponent}" if exponent else digits
    return str(value)


__all__ = ["TOO_BIG", "as_text", "instr", "replace"]
