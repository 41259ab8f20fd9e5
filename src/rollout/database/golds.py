"""Gold queries: where they are written, what they come to, and in which order their rows have to be.

The order of rows counts only where the outermost query orders them, and rows that are equal on everything it orders by
may change places.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

from rollout.database.contents import Contents, contents, others
from rollout.database.definitions import Definitions, definitions
from rollout.database.image import BYTES, LIGHT, ROWS, Image
from rollout.database.rows import Row, key
from rollout.database.running import Outcome, run_all, weigh
from rollout.database.sandbox import Access
from rollout.database.statements import Token, statements, tokens
from rollout.language.paths import MISSING, PathError, get, parse

_MOST_KEPT = 10_000


@dataclass(frozen=True, slots=True)
class Gold:
    """What a gold query came to, or why it ``failed``.

    ``groups`` are the sizes of the runs of rows that may change places, None where the order is free altogether.
    ``answers`` is False for a gold that only changes data. ``tables``, ``others`` and ``definitions`` are what the
    database holds afterwards, where agents may write.
    """

    query: str
    columns: tuple[str, ...] = ()
    rows: tuple[Row, ...] = ()
    groups: tuple[int, ...] | None = None
    answers: bool = True
    tables: Contents = field(default_factory=dict)
    others: list[str] = field(default_factory=list)
    definitions: Definitions = field(default_factory=dict)
    failed: str | None = None


def written_golds(options: Mapping[str, Any], truth: Mapping[str, Any]) -> Any:
    """What a ``sql_result`` primitive is to compare with: a query, a list of queries, or rows; MISSING if nothing.

    It is the primitive's own ``query``, what stands at its ``groundTruth``, or else the task's ``query``, ``rows`` or
    ``answer``, whichever it has first. An ``answer`` is given as rows. Raises PathError.
    """
    if "query" in options:
        return options["query"]
    if "groundTruth" in options:
        return get(truth, parse(options["groundTruth"]).steps)
    for name in ("query", "rows"):
        if truth.get(name) is not None:
            return truth[name]
    answer = truth.get("answer")
    if answer is None:
        return MISSING
    return answer if isinstance(answer, list) else [[answer]]


def golds_of_task(verifier: Mapping[str, Any] | None, truth: Mapping[str, Any]) -> Any:
    """What the first ``sql_result`` of a verifier compares a task's answer with; MISSING when there is none."""
    primitives = (verifier or {}).get("primitives")
    for primitive in primitives if isinstance(primitives, list) else ():
        if isinstance(primitive, dict) and primitive.get("type") == "sql_result":
            try:
                return written_golds(primitive, truth)
            except (PathError, TypeError):
                return MISSING
    return written_golds({}, truth)


def is_rows(value: Any) -> bool:
    """Whether a ground truth is rows, and not queries."""
    return isinstance(value, list) and not (value and all(isinstance(each, str) for each in value))


def evaluate(image: Image, query: str) -> Gold:
    """What a gold query comes to on a clean copy of the database, kept. Never raises for what it says."""
    gold = image.golds.get(query)
    if gold is None:
        gold = _evaluate(image, query)
        if len(image.golds) < _MOST_KEPT and len(gold.rows) < 1_000 and weigh(gold.rows) < LIGHT:
            image.golds[query] = gold
    return gold


def _evaluate(image: Image, query: str) -> Gold:
    if image.spec.read_only:
        found = image.ask(query)
        return _gold(image, query, found)
    sandbox = image.copy(Access.WRITE)
    try:
        sandbox.dice.shake("gold")
        outcome = run_all(sandbox, query, most_rows=ROWS, most_bytes=BYTES)
        tables, rest, defined = (
            ({}, [], {}) if outcome.failed else (contents(sandbox), others(sandbox), definitions(sandbox))
        )
    finally:
        sandbox.close()
    script = [query[start:end] for start, end in statements(query)]
    if outcome.wrote:
        last = script[-1] if script else ""
        answers = bool(outcome.columns) and not _writes(last)
        return Gold(
            query,
            outcome.columns,
            outcome.rows if answers else (),
            groups=None if not answers or not order_terms(last) else tuple([1] * len(outcome.rows)),
            answers=answers,
            tables=tables,
            others=rest,
            definitions=defined,
            failed=_why(outcome),
        )
    gold = _gold(image, script[-1] if script else query, outcome)
    return Gold(query, gold.columns, gold.rows, gold.groups, True, tables, rest, defined, gold.failed)


def _gold(image: Image, query: str, outcome: Outcome) -> Gold:
    failed = _why(outcome)
    if failed is not None:
        return Gold(query, failed=failed)
    return Gold(query, outcome.columns, outcome.rows, groups=_groups(image, query, outcome))


def _why(outcome: Outcome) -> str | None:
    if outcome.failed is not None:
        return outcome.failed
    if outcome.left_out:
        return f"it comes to more than {ROWS:,} rows, or {BYTES:,} bytes"
    return None if outcome.columns or outcome.wrote else "it comes to no rows or columns; it is no query"


def _writes(statement: str) -> bool:
    words = [token.word for token in tokens(statement) if token.depth == 0]
    return (
        not words
        or words[0]
        in ("INSERT", "UPDATE", "DELETE", "REPLACE", "ALTER", "CREATE", "DROP", "REINDEX", "ANALYZE")
        or bool(words[0] == "WITH" and {"INSERT", "UPDATE", "DELETE", "REPLACE"} & set(words))
    )


# Order


def order_terms(query: str) -> list[list[Token]]:
    """The terms of the outermost ORDER BY, as tokens without ASC, DESC and NULLS; empty when there is none."""
    found = tokens(query)
    at = _clause(found, "ORDER")
    if at is None:
        return []
    terms: list[list[Token]] = [[]]
    for token in found[at + 2 :]:
        if (token.depth == 0 and token.word in ("LIMIT", "OFFSET")) or token.text == ";":
            break
        if token.depth == 0 and token.text == ",":
            terms.append([])
        else:
            terms[-1].append(token)
    return [stripped for term in terms if (stripped := _without_direction(term))]


def _clause(found: Sequence[Token], word: str) -> int | None:
    places = [
        number
        for number, token in enumerate(found)
        if token.depth == 0
        and token.word == word
        and (word != "ORDER" or (number + 1 < len(found) and found[number + 1].word == "BY"))
    ]
    return places[-1] if places else None


def _without_direction(term: list[Token]) -> list[Token]:
    end = len(term)
    if end >= 2 and term[end - 2].word == "NULLS" and term[end - 1].word in ("FIRST", "LAST"):
        end -= 2
    if end and term[end - 1].word in ("ASC", "DESC"):
        end -= 1
    return term[:end]


@dataclass(frozen=True, slots=True)
class _Item:
    """One member of the outermost select list: how its expression is written, and its alias."""

    tokens: tuple[str, ...]
    text: str
    alias: str | None


def _groups(image: Image, query: str, outcome: Outcome) -> tuple[int, ...] | None:
    terms = order_terms(query)
    if not terms:
        return None
    keys = _sort_keys(image, query, terms, outcome)
    if keys is None:
        # What it orders by cannot be told from outside, so the rows have to come exactly as they do.
        return tuple([1] * len(outcome.rows))
    return tuple(len(list(members)) for _, members in groupby(keys))


def _sort_keys(
    image: Image, query: str, terms: list[list[Token]], outcome: Outcome
) -> list[tuple[Any, ...]] | None:
    """For each row what it is ordered by: columns of the result, and further expressions that are asked for."""
    items = _items(query)
    columns: list[int] = []
    further: list[tuple[list[Token], str | None]] = []
    collations: list[str | None] = []
    for term in terms:
        bare, collation = _without_collation(term)
        number = _column(bare, items, outcome.columns)
        if number is None:
            further.append((bare, collation))
        else:
            columns.append(number)
            collations.append(collation)
    keys = [
        [_collated(row[number], how) for number, how in zip(columns, collations, strict=True)]
        for row in outcome.rows
    ]
    if further:
        asked = _ask_further(image, query, [term for term, _ in further], items, outcome)
        if asked is None:
            return None
        for row, values in zip(keys, asked, strict=True):
            row += [_collated(value, how) for value, (_, how) in zip(values, further, strict=True)]
    return [tuple(row) for row in keys]


def _collated(value: Any, collation: str | None) -> Any:
    if isinstance(value, str):
        if collation == "NOCASE":
            value = value.lower()
        elif collation == "RTRIM":
            value = value.rstrip(" ")
    return key(value)


def _without_collation(term: list[Token]) -> tuple[list[Token], str | None]:
    if len(term) > 2 and term[-2].word == "COLLATE":
        return term[:-2], (term[-1].name or "").upper()
    return term, None


def _column(term: list[Token], items: Sequence[_Item] | None, names: Sequence[str]) -> int | None:
    """The result column that a term of ORDER BY is, by number, by alias, or by the same expression."""
    name = (term[0].name or "").lower() if len(term) == 1 else ""
    if len(term) == 1 and term[0].kind == "number" and term[0].text.isdigit():
        number = int(term[0].text) - 1
        return number if 0 <= number < len(names) else None
    if name:
        aliases = [
            number
            for number, item in enumerate(items or ())
            if item.alias is not None and item.alias.lower() == name
        ]
        if name and len(aliases) == 1 and len(items or ()) == len(names):
            return aliases[0]
    written = tuple(_written(token) for token in term)
    if items is not None and len(items) == len(names):
        for number, item in enumerate(items):
            if item.tokens == written:
                return number
    if len(term) == 1 and name:
        same = [number for number, column in enumerate(names) if column.lower() == name]
        # A column of that name that is not also renamed: the first of them is what SQLite takes.
        if same and items is None:
            return same[0]
    return None


def _written(token: Token) -> str:
    return (token.name or token.text).lower() if token.kind in ("word", "quoted") else token.text


def _items(query: str) -> list[_Item] | None:
    """The outermost select list; None where it cannot be taken apart (``*``, a compound query, VALUES)."""
    span = _select_list(tokens(query))
    if span is None:
        return None
    found, first, last = span
    items: list[_Item] = []
    member: list[Token] = []
    for token in [*found[first:last], None]:
        if token is None or (token.depth == 0 and token.text == ","):
            if not member or member[-1].text == "*":
                return None
            items.append(_item(query, member))
            member = []
        else:
            member.append(token)
    return items


_ENDS = {"FROM", "WHERE", "GROUP", "HAVING", "WINDOW", "ORDER", "LIMIT"}
_COMPOUND = {"UNION", "INTERSECT", "EXCEPT", "VALUES"}


def _select_list(found: list[Token]) -> tuple[list[Token], int, int] | None:
    if any(token.depth == 0 and token.word in _COMPOUND for token in found):
        return None
    first = next(
        (number for number, token in enumerate(found) if token.depth == 0 and token.word == "SELECT"), None
    )
    if first is None:
        return None
    first += 1
    if first < len(found) and found[first].word in ("DISTINCT", "ALL"):
        first += 1
    last = next(
        (
            number
            for number in range(first, len(found))
            if found[number].depth == 0 and (found[number].word in _ENDS or found[number].text == ";")
        ),
        len(found),
    )
    return found, first, last


def _item(query: str, member: list[Token]) -> _Item:
    alias = None
    body = member
    if len(member) > 1 and member[-1].name is not None:
        if len(member) > 2 and member[-2].word == "AS":
            alias, body = member[-1].name, member[:-2]
        elif member[-1].word != "END" and (member[-2].kind != "sign" or member[-2].text == ")"):
            alias, body = member[-1].name, member[:-1]
    text = query[body[0].start : body[-1].start + len(body[-1].text)]
    return _Item(tuple(_written(token) for token in body), text, alias)


def _ask_further(
    image: Image,
    query: str,
    terms: list[list[Token]],
    items: Sequence[_Item] | None,
    outcome: Outcome,
) -> list[tuple[Any, ...]] | None:
    """The values of ``terms`` for each row, by asking the query again with them behind its select list."""
    span = _select_list(tokens(query))
    if span is None:
        return None
    found, _, last = span
    if last == len(found):
        return None
    end = found[last - 1].start + len(found[last - 1].text)
    for substitute in (False, True):
        expressions = [_expression(query, term, items if substitute else None) for term in terms]
        asked = image.ask(f"{query[:end]}, {', '.join(expressions)} {query[end:]}")
        if asked.failed is not None or asked.left_out or len(asked.rows) != len(outcome.rows):
            continue
        width = len(outcome.columns)
        if tuple(row[:width] for row in asked.rows) == outcome.rows:
            return [row[width:] for row in asked.rows]
    return None


def _expression(query: str, term: list[Token], items: Sequence[_Item] | None) -> str:
    aliases = {item.alias.lower(): item.text for item in items or () if item.alias is not None}
    pieces: list[str] = []
    for number, token in enumerate(term):
        around = (
            term[number - 1].text if number else "",
            term[number + 1].text if number + 1 < len(term) else "",
        )
        name = (token.name or "").lower()
        if name in aliases and "." not in around and around[1] != "(":
            pieces.append(f"({aliases[name]})")
        else:
            pieces.append(token.text)
    return f"({' '.join(pieces)})"


def statements_of(query: str) -> Iterator[str]:
    """The statements of a gold, one by one, as an agent would send them."""
    for start, end in statements(query):
        yield query[start:end]


__all__ = [
    "Gold",
    "evaluate",
    "golds_of_task",
    "is_rows",
    "order_terms",
    "statements_of",
    "written_golds",
]
