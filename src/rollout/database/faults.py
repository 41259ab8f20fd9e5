"""Finds where in a statement its fault is. Python's sqlite3 only gives SQLite's words for it, and no place."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from rollout.database.running import FAILURES
from rollout.database.sandbox import Sandbox
from rollout.database.statements import Token, tokens

_LONGEST = 1_000_000
_MOST_ROWS = 10_000
_MOST_PASSES = 20
_SYNTAX = re.compile(r'(?:near|unrecognized token:) "(?P<token>.+)"(?:: syntax error)?', re.DOTALL)
_NAMED = re.compile(
    r"""no\ such\ column:\ (?P<quoted>".+"),\ which
      | (?P<what>no\ such\ (?:table|column|function|index|view|trigger|collation\ sequence)
               | duplicate\ column\ name | ambiguous\ column\ name):\ (?P<name>.+)
      | table\ .+\ has\ no\ column\ named\ (?P<listed>.+)
      | unknown\ column\ "(?P<unknown>.+)"\ in\ foreign\ key\ definition""",
    re.VERBOSE | re.DOTALL,
)
_UNEVEN = "all VALUES must have the same number of terms"
ORPHANED = "FOREIGN KEY constraint failed"


def fault_in(text: str, sql: str, reason: str, sandbox: Sandbox | None = None) -> tuple[int, int] | None:
    """From where to where in ``text`` the fault is for which its statement does not run; None where it is not found.

    ``sql`` is what SQLite was given for it: ``text`` itself, or that in SQLite's dialect. ``sandbox`` is as it was when
    the statement failed, and is left so.
    """
    if max(len(text), len(sql)) > _LONGEST:
        return None
    written = tokens(text)
    if not written:
        return None
    if reason == "incomplete input":
        return _span(written[-1])
    if (syntax := _SYNTAX.fullmatch(reason)) is not None:
        return (
            _unexpected(sandbox, text, written, syntax["token"], reason) if sandbox and sql == text else None
        )
    if (named := _NAMED.match(reason)) is not None:
        return _name(written, named)
    if sandbox is None:
        return None
    rows = _rows(written)
    run = rows if sql == text else _rows(tokens(sql))
    if len(rows) != len(run) or not 1 < len(rows) <= _MOST_ROWS:
        return None
    number = _failing_row(sandbox, sql, run, reason)
    return None if number is None else rows[number]


def _unexpected(
    sandbox: Sandbox, text: str, written: Sequence[Token], found: str, reason: str
) -> tuple[int, int] | None:
    """The first of the places that say ``found`` up to which SQLite has the same to say of the statement."""
    whole = len(tokens(found)) == 1  # what SQLite cannot take apart may be several tokens here
    ends = [
        each.start + len(found)
        for each in written
        if (each.text == found if whole else text.startswith(found, each.start))
    ]
    # SQLite reads from left to right: what it stumbles over, it stumbles over however much stands behind.
    low, high = 0, len(ends)
    while low < high:
        middle = (low + high) // 2
        if _refusal(sandbox, f"EXPLAIN {text[: ends[middle]]}") == reason:
            high = middle
        else:
            low = middle + 1
    return (ends[low] - len(found), ends[low]) if low < len(ends) else None


def _refusal(sandbox: Sandbox, sql: str) -> str | None:
    left = sandbox.steps_left
    try:
        sandbox.execute(sql, steps=left).close()
    except FAILURES as error:
        return sandbox.why(error)
    finally:
        sandbox.steps_left = left
    return None


def _name(written: Sequence[Token], said: re.Match[str]) -> tuple[int, int] | None:
    if (quoted := said["quoted"]) is not None:
        return next((_span(each) for each in written if each.text == quoted), None)
    what = said["what"] or ""
    name = said["name"] or said["listed"] or said["unknown"]
    owner, _, column = name.rpartition(".")
    found = list(_tokens_of(written, column.lower(), owner.lower(), what))
    if said["listed"] or said["unknown"]:
        found = [each for each in found if each.depth]
    if what == "duplicate column name":
        return _span(found[1]) if len(found) > 1 else None
    return _span(found[0]) if found else None


def _tokens_of(written: Sequence[Token], name: str, owner: str, what: str) -> Iterator[Token]:
    """The tokens that may be the name that is told of, from the first on."""
    for number, each in enumerate(written):
        if each.name is None or each.name.lower() != name:
            continue
        before = written[number - 1].text if number else ""
        after = written[number + 1].text if number + 1 < len(written) else ""
        if what.endswith(("column", "column name")):
            is_defined = before.upper() == "AS" or after in (".", "(")
            holder = written[number - 2].name if before == "." and number > 1 else None
            if is_defined or (holder or "").lower() != owner:
                continue
        elif what == "no such function" and after != "(":
            continue
        yield each


def _span(token: Token) -> tuple[int, int]:
    return token.start, token.start + len(token.text)


def _rows(written: Sequence[Token]) -> list[tuple[int, int]]:
    """Where the rows of an INSERT … VALUES stand, from parenthesis to parenthesis; none in any other statement."""
    if written[0].word not in ("INSERT", "REPLACE"):
        return []
    outside = [each for each in written if each.depth == 0]
    values = next((at for at, each in enumerate(outside) if each.word == "VALUES"), None)
    rows: list[tuple[int, int]] = []
    if values is None:
        return rows
    for opening, closing, behind in zip(
        outside[values + 1 :: 3], outside[values + 2 :: 3], [*outside[values + 3 :: 3], None], strict=False
    ):
        if (opening.text, closing.text) != ("(", ")"):
            return []
        rows.append((opening.start, closing.start + 1))
        if behind is None or behind.text != ",":
            break
    return rows


def _failing_row(sandbox: Sandbox, sql: str, rows: Sequence[tuple[int, int]], reason: str) -> int | None:
    """The number of the row for which the statement fails, found by running it with one row after the other."""
    head, tail = sql[: rows[0][0]], sql[rows[-1][1] :]
    if _refusal(sandbox, "SAVEPOINT rows_by_one") is not None:
        return None
    try:
        left = list(range(len(rows)))
        for _ in range(_MOST_PASSES):
            failed: list[int] = []
            for number in left:
                start, end = rows[number]
                told = _refusal(sandbox, head + sql[start:end] + tail)
                if told == ORPHANED:
                    failed.append(number)  # perhaps a row further down is what it refers to
                elif told is not None:
                    return number if told == reason or reason == _UNEVEN else None
            if not failed or len(failed) == len(left):
                break
            left = failed
        return left[0] if failed and reason == ORPHANED else None
    finally:
        _refusal(sandbox, "ROLLBACK TO rows_by_one")
        _refusal(sandbox, "RELEASE rows_by_one")


__all__ = ["ORPHANED", "fault_in"]
