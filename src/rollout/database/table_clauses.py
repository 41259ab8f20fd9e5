"""What a CREATE TABLE says that no PRAGMA tells: checks, collations, generated columns, conflicts, deferred keys."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from rollout.database.statements import Token, tokens

_OF_TABLES = ("CONSTRAINT", "PRIMARY", "UNIQUE", "CHECK", "FOREIGN")
_SAME_SIGNS = {"==": "=", "<>": "!="}


@dataclass(slots=True)
class Clauses:
    """The clauses of one table. ``checks`` and ``generated``, by column, are expressions in their plain words.

    ``collations`` are by column. ``conflicts`` are the constraints that do not abort, each with its columns and what it
    does instead; ``deferred`` the columns of foreign keys that are looked at when a transaction ends; ``options`` are
    what stands behind the columns, such as STRICT, and AUTOINCREMENT.
    """

    checks: set[tuple[str, ...]] = field(default_factory=set)
    generated: dict[str, tuple[str, ...]] = field(default_factory=dict)
    collations: dict[str, str] = field(default_factory=dict)
    conflicts: set[tuple[str, ...]] = field(default_factory=set)
    deferred: set[tuple[str, ...]] = field(default_factory=set)
    options: set[tuple[str, ...]] = field(default_factory=set)


def clauses_of(written: Sequence[Token], names: Collection[str]) -> Clauses:
    """The clauses of a CREATE TABLE as SQLite keeps it. ``names`` are as for :func:`plain_words`."""
    found = Clauses()
    edges = [number for number, token in enumerate(written) if token.depth == 0 and token.text in ("(", ")")]
    for member in _parted(written[edges[0] + 1 : edges[-1]], depth=1):
        _read(member, names, found)
    for option in _parted(written[edges[-1] + 1 :], depth=0):
        found.options.add(tuple(token.word for token in option))
    return found


def _read(member: Sequence[Token], names: Collection[str], found: Clauses) -> None:
    """Takes down what a column or a constraint of the table says. The words looked for are reserved, and no names."""
    is_column = member[0].word not in _OF_TABLES
    columns: tuple[str, ...] = (_name(member[0]),) if is_column else ()
    constraint = ""
    for number, token in enumerate(member):
        if token.depth != 1:
            continue
        before = member[number - 1].word if number else ""
        behind = [each.word for each in member[number + 1 : number + 3]]
        match token.word:
            case "CHECK":
                constraint = "CHECK"
                found.checks.add(plain_words(_inside(member, number), names))
            case "PRIMARY" | "UNIQUE" | "FOREIGN" | "NOT" if behind[:1] != ["DEFERRABLE"]:
                constraint = token.word
                if not is_column:
                    columns = tuple(_name(part[0]) for part in _parted(_inside(member, number), depth=2))
            case "AS":
                found.generated[columns[0]] = plain_words(_inside(member, number), names)
            case "COLLATE":
                found.collations[columns[0]] = _name(member[number + 1])
            case "AUTOINCREMENT":
                found.options.add(("AUTOINCREMENT",))
            case "ON" if behind[0] == "CONFLICT" and constraint != "CHECK" and behind[1] != "ABORT":
                found.conflicts.add((constraint, behind[1], *sorted(columns)))
            case "DEFERRABLE" if before != "NOT" and behind == ["INITIALLY", "DEFERRED"]:
                found.deferred.add(columns)


def plain_words(expression: Sequence[Token], names: Collection[str]) -> tuple[str, ...]:
    """The words of an expression, the same in capitals and small letters, and in parentheses or not.

    ``names`` are those that are known, in small letters: what is quoted and none of them may be a text.
    """
    while expression and expression[0].text == "(" and len(_inside(expression, 0)) == len(expression) - 2:
        expression = expression[1:-1]
    return tuple(plain_word(token, names) for token in expression)


def plain_word(token: Token, names: Collection[str]) -> str:
    """One of the words of :func:`plain_words`."""
    if token.name is None:
        return _SAME_SIGNS.get(token.text, token.text)
    name = token.name.casefold()
    return name if token.kind == "word" or name in names else token.text


def literal(written: str) -> str | float | None:
    """The value of a default that is a number or a text, None for NULL. Raises ValueError where it is none of these."""
    found = tokens(written)
    sign = -1 if found[0].text == "-" else 1
    if found[0].text in ("+", "-"):
        found = found[1:]
    [token] = found
    if token.kind == "number":
        return sign * (float(token.text) if set(token.text) & set(".eE") else int(token.text, 0))
    match token.word:
        case "NULL":
            return None
        case "TRUE" | "FALSE":
            return int(token.word == "TRUE")
        case "CURRENT_TIMESTAMP" | "CURRENT_DATE" | "CURRENT_TIME":
            raise ValueError(token.text)
    # A name that stands there alone is a text.
    return token.text[1:-1].replace("''", "'") if token.text[0] == "'" else token.name or token.text


def _name(token: Token) -> str:
    return (token.name if token.name is not None else token.text[1:-1]).casefold()


def _inside(written: Sequence[Token], start: int) -> Sequence[Token]:
    """What stands in the first parentheses from ``start`` on."""
    opening = next(number for number in range(start, len(written)) if written[number].text == "(")
    closing = next(
        number
        for number in range(opening + 1, len(written))
        if written[number].text == ")" and written[number].depth == written[opening].depth
    )
    return written[opening + 1 : closing]


def _parted(written: Sequence[Token], *, depth: int) -> Iterator[list[Token]]:
    part: list[Token] = []
    for token in written:
        if token.depth == depth and token.text == ",":
            yield part
            part = []
        else:
            part.append(token)
    if part:
        yield part


__all__ = ["Clauses", "clauses_of", "literal", "plain_word", "plain_words"]
