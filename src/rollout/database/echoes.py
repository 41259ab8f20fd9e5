"""What a statement that did not run has left unmade or empty, and which later failures are only the echo of that."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from rollout.database.statements import Token, tokens

_MISSED = re.compile(
    r"no such (?:table|view|index|trigger|column): (?P<name>.+)"
    r"|unknown database (?P<database>.+)|table .+ has no column named (?P<column>.+)",
    re.DOTALL,
)
_MAKING_NOTHING = {
    *(
        "SELECT",
        "VALUES",
        "WITH",
        "EXPLAIN",
        "INSERT",
        "REPLACE",
        "UPDATE",
        "DELETE",
        "DROP",
        "DETACH",
        "PRAGMA",
    ),
    *("BEGIN", "COMMIT", "END", "ROLLBACK", "SAVEPOINT", "RELEASE", "ANALYZE", "REINDEX", "VACUUM"),
}
_BEFORE_KIND = {"TEMP", "TEMPORARY", "UNIQUE", "VIRTUAL", "MATERIALIZED", "OR", "REPLACE"}


def unmade_by(sql: str) -> frozenset[str]:
    """The names, in small letters, of what ``sql`` was to make, and did not: it may be misspelt anywhere.

    Where a semicolon is missing it may hold several statements.
    """
    found = tokens(sql)
    if not found or found[0].word in _MAKING_NOTHING:
        return frozenset()
    starts = [number for number, token in enumerate(found) if number == 0 or token.word == "CREATE"]
    names = (name for start in starts for name in _made(found, start))
    return frozenset(name.lower() for name in names)


def is_echo(reason: str, unmade: Collection[str]) -> bool:
    """Whether a statement fails for want of what is ``unmade``."""
    missed = _MISSED.fullmatch(reason)
    if missed is None:
        return False
    name = missed["name"] or missed["database"] or missed["column"]
    return name.rpartition(".")[2].lower() in unmade


def filled_by(sql: str) -> str | None:
    """The name, in small letters, of the table that ``sql`` is to put rows into; None where it puts in none."""
    found = tokens(sql)
    at = next(
        (number for number, token in enumerate(found) if token.depth == 0 and token.word == "INTO"), None
    )
    named = [] if at is None else found[at + 1 : at + 4]
    if len(named) == 3 and named[1].text == ".":
        named = named[2:]
    return named[0].name.lower() if named and named[0].name is not None else None


def _made(found: Sequence[Token], start: int) -> Iterator[str]:
    """The names of what the statement that begins at ``start`` makes, whatever its first words are meant to be."""
    word = found[start].word
    if word == "ATTACH":
        yield from _names_behind(found, start, "AS")
    elif word == "ALTER":
        yield from _names_behind(found, start, "TO")
        yield from _names_behind(found, start, "COLUMN")
        yield from _names_behind(found, start, "ADD")
    else:
        at = start + 1
        while at < len(found) and found[at].word in _BEFORE_KIND:
            at += 1
        at += 1  # what kind of thing it is
        if [token.word for token in found[at : at + 3]] == ["IF", "NOT", "EXISTS"]:
            at += 3
        if at + 2 < len(found) and found[at + 1].text == ".":
            at += 2
        if at < len(found) and (name := found[at].name) is not None:
            yield name


def _names_behind(found: Sequence[Token], start: int, word: str) -> Iterator[str]:
    for before, token in zip(found[start:], found[start + 1 :], strict=False):
        if before.word == word and token.name is not None:
            yield token.name


__all__ = ["filled_by", "is_echo", "unmade_by"]
