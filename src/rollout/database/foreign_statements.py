"""Statements of another SQL dialect, each with what keeps it from being carried over to SQLite."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from typing import Any

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import ErrorLevel, ParseError, SqlglotError, TokenError

from rollout.database import DatabaseError

# It reports what it could not parse there, which is told as a problem with its place here.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

_COPY = re.compile(r"^COPY\s[^;]*?\bFROM\s+STDIN\b[^\n]*", re.IGNORECASE | re.MULTILINE)


class UntranslatableError(DatabaseError):
    """SQL that cannot be carried over: for each place its start and end in the text, and the reason."""

    def __init__(self, places: list[tuple[int, int, str]]) -> None:
        super().__init__(places[0][2])
        self.places = places


@dataclass(slots=True)
class Statement:
    """One statement: where it stands, how it is written, what it says, and why it cannot be carried over."""

    start: int
    end: int
    text: str
    tree: Any
    faults: list[tuple[int, int, str]] = field(default_factory=list)

    def refuse(self, reason: str, node: Any = None, *, word: str = "") -> None:
        """Notes why the statement cannot be carried over, at ``node``, at ``word``, or at its first line."""
        start, end = self._place(node, word)
        self.faults.append((self.start + start, self.start + end, reason))

    def _place(self, node: Any, word: str) -> tuple[int, int]:
        if isinstance(node, exp.Expression):
            for inner in node.walk():
                if "start" in inner.meta:
                    return inner.meta["start"], inner.meta["end"] + 1
        if word and (found := re.search(rf"\b{re.escape(word)}\b", self.text, re.IGNORECASE)):
            return found.start(), found.end()
        line = self.text.find("\n")
        return 0, line if line >= 0 else len(self.text)


@dataclass(slots=True)
class Table:
    """A table that was made: the space it is in, and its column types by name, for the rows that follow."""

    space: str
    types: dict[str, exp.DataType]


@dataclass(slots=True)
class Scope:
    """What a statement is read in: its dialect, the time, and what those before it have made, or have not."""

    dialect: str
    now: datetime
    read_only: bool
    tables: dict[str, Table] = field(default_factory=dict)
    enums: dict[str, list[str]] = field(default_factory=dict)
    unmade: frozenset[str] = frozenset()


@contextmanager
def refused_where_too_deep(statement: Statement) -> Iterator[None]:
    """Refuses a statement that is nested deeper than Python goes."""
    try:
        yield
    except RecursionError:
        statement.refuse("its parentheses or operators are nested too deeply to be carried over")


def read(text: str, dialect: str) -> Iterator[Statement]:
    """The statements of ``text``, with their faults. Raises UntranslatableError where it cannot be taken apart."""
    if copied := _COPY.search(text):
        reason = "COPY … FROM stdin is for psql and holds no SQL; dump the rows as INSERT statements"
        raise UntranslatableError([(copied.start(), copied.end(), reason)])
    try:
        tokens = sqlglot.tokenize(text, read=dialect)
    except TokenError as error:
        told = re.search(r" from \d+:(\d+)", str(error.__cause__))
        start = int(told[1]) if told else 0
        reason = f"it cannot be read as {dialect}: a text or a comment has no end"
        raise UntranslatableError([(min(start, len(text)), len(text), reason)]) from None
    for found in _parted(tokens):
        statement = _read(text, found[0].start, found[-1].end + 1, dialect)
        if not statement.faults:
            statement.faults += _lone_commas(found)
        yield statement


def _parted(tokens: Iterable[Token]) -> Iterator[list[Token]]:
    for ends, part in groupby(tokens, lambda token: token.token_type is TokenType.SEMICOLON):
        if not ends:
            yield list(part)


def _lone_commas(tokens: Sequence[Token]) -> Iterator[tuple[int, int, str]]:
    """The commas that part nothing, which the parser passes over."""
    for before, token, behind in zip([None, *tokens], tokens, [*tokens[1:], None], strict=False):
        if token.token_type is TokenType.COMMA and (
            (before is not None and before.token_type is TokenType.L_PAREN)
            or behind is None
            or behind.token_type in (TokenType.COMMA, TokenType.R_PAREN)
        ):
            yield token.start, token.end + 1, "a comma stands there with nothing to part"


def _read(text: str, start: int, end: int, dialect: str) -> Statement:
    statement = Statement(start, end, text[start:end], None)
    try:
        with refused_where_too_deep(statement):
            statement.tree = sqlglot.parse_one(statement.text, read=dialect, error_level=ErrorLevel.RAISE)
    except ParseError as error:
        told = error.errors[0] if error.errors else {}
        what = str(told.get("description") or "it is not understood").rstrip(".")
        statement.refuse(f"it cannot be read as {dialect}: {what}", word=str(told.get("highlight") or ""))
    except SqlglotError as error:
        statement.refuse(f"it cannot be read as {dialect}: {str(error).partition(chr(10))[0]}")
    except Exception:
        # What no dialect has may end its parser in any error.
        statement.refuse(f"it cannot be read as {dialect}")
    return statement


__all__ = ["Scope", "Statement", "Table", "UntranslatableError", "read", "refused_where_too_deep"]
