"""The way out for SQL that does not run, by the reason that SQLite or its sandbox gives."""

from __future__ import annotations

import re
from collections.abc import Mapping

from rollout.check.misread import columns_of, instead_of
from rollout.check.wording import closest, did_you_mean, quoted, suggestion
from rollout.database import sandbox
from rollout.database.quoting import misread_word

Tables = Mapping[str, tuple[str, ...]]

_TABLE = re.compile(r"no such (?:table|view): (?P<name>.+)", re.DOTALL)
_COLUMN = re.compile(
    r"no such column: (?P<name>.+)"
    r"|table (?P<table>.+) has no column named (?P<listed>.+)"
    r'|unknown column "(?P<foreign>.+)" in foreign key definition',
    re.DOTALL,
)
_NEAR = re.compile(r'near "(?P<word>\w+)": syntax error')
_KEYWORDS = (
    *("ALTER", "BEFORE", "BETWEEN", "CASCADE", "CHECK", "COLLATE", "COLUMN", "CONSTRAINT", "CREATE", "CROSS"),
    *("DEFAULT", "DELETE", "DISTINCT", "EXCEPT", "EXISTS", "FOREIGN", "FROM", "GROUP", "HAVING", "INDEX"),
    *("INNER", "INSERT", "INTERSECT", "INTO", "JOIN", "LEFT", "LIKE", "LIMIT", "NOCASE", "NULL", "OFFSET"),
    *("ORDER", "PRIMARY", "RECURSIVE", "REFERENCES", "REPLACE", "SELECT", "TABLE", "TRIGGER", "UNION"),
    *("UNIQUE", "UPDATE", "USING", "VALUES", "VIEW", "WHERE", "WITH"),
)
_SMALLER = "Make less of it, or make it in several statements."
_BY_REASON = {
    "UNIQUE constraint failed": "Give each row a value of its own there, or leave one of the rows out.",
    "NOT NULL constraint failed": "Give it a value, or let the column be NULL in the schema.",
    "CHECK constraint failed": "Write what the CHECK of the schema lets through, or mend the CHECK.",
    "FOREIGN KEY constraint failed": "Insert the row that it refers to before it, or refer to one that is there.",
    "foreign key mismatch": "Refer to a column that is the PRIMARY KEY or UNIQUE.",
    "datatype mismatch": "Write a value of the type that the column has.",
    "all VALUES must have": "Write as many values in each row.",
    "ambiguous column name": "Say of which table it is: TABLE.COLUMN.",
    "duplicate column name": "Give one of the two another name.",
    "parser stack overflow": "Write it with fewer parentheses within each other.",
    "Expression tree is too large": "Write it with fewer parentheses or operators within each other.",
    "its parentheses or operators": "Write it with fewer of them within each other.",
    "a comma stands there": "Leave it out, or write what is missing beside it.",
    "unknown database": "Leave that out: an environment has one database, and its tables have no other name.",
    sandbox.OUTSIDE: "Leave it out: an environment has one database, which is made by schema and seed alone.",
    sandbox.CLOSED: "Leave it out: there is one database, as schema and seed have made it.",
    sandbox.ONE_BY_ONE: "Leave it out: all of it counts, or none.",
    sandbox.READ_ONLY: "Ask with a SELECT, or write readOnly: false beside “template” where agents are to change data.",
    sandbox.TOO_LONG: "Have it make or look at fewer rows, and see that what is recursive comes to an end.",
    sandbox.TOO_LARGE: _SMALLER,
    sandbox.TOO_FULL: _SMALLER,
    "a value in it is longer than": "Make it shorter.",
    sandbox.SEVERAL: "Leave one statement, the query whose rows are the answer.",
    "it comes to no rows or columns": "Write a query, which begins with SELECT, WITH or VALUES.",
    "it comes to more than": "Ask for fewer rows, or for their number or sum.",
    "it holds no statement": "Write a query, which begins with SELECT, WITH or VALUES.",
}
_COUNTS = re.compile(r"table .+ has \d+ columns? but \d+ values? were supplied|\d+ values? for \d+ columns?")
_TAKEN = re.compile(r".+ already exists|there is already .+", re.DOTALL)
_QUERY = re.compile(
    r"\s*(?:SELECT\b|VALUES\s*\(|WITH\b.+\bAS\b|INSERT\s+INTO\b|UPDATE\b.+\bSET\b|DELETE\s+FROM\b)",
    re.IGNORECASE | re.DOTALL,
)
_BEGINNING = {"ALTER", "CREATE", "DELETE", "DROP", "INSERT", "SELECT", "UPDATE"}


def is_query(value: object) -> bool:
    """Whether a value is a text that begins as what stands as a gold does."""
    return isinstance(value, str) and _QUERY.match(value) is not None


def way_out(reason: str, tables: Tables, *, is_built: bool) -> str | None:
    """What to do about ``reason``, on a database of ``tables``; None where it says nothing that tells.

    ``is_built`` says whether those are all, and not only what there is of them by now.
    """
    if (word := misread_word(reason)) is not None:
        return instead_of(word, tables)
    if (missed := _TABLE.fullmatch(reason)) is not None:
        return _table(missed["name"].removeprefix("main."), tables, is_built)
    if (missed := _COLUMN.fullmatch(reason)) is not None:
        return _column(missed, tables, is_built)
    if (near := _NEAR.fullmatch(reason)) is not None:
        return _word(near["word"])
    if _COUNTS.fullmatch(reason):
        return "Write a value for each column, or name the columns that have one behind the table's name."
    if _TAKEN.fullmatch(reason):
        return "Leave one of the two out, or give it another name."
    return next((way for start, way in _BY_REASON.items() if reason.startswith(start)), None)


def _table(name: str, tables: Tables, is_built: bool) -> str:
    if not is_built or not tables:
        near = closest(name, tables)
        return suggestion(near, name) if near else "Make it in the schema, before it is first used."
    only = f"The only table is {quoted(next(iter(tables)))}."
    return did_you_mean(name, tuple(tables), kind="tables") or only


def _column(missed: re.Match[str], tables: Tables, is_built: bool) -> str | None:
    owner, _, name = (missed["name"] or missed["listed"] or missed["foreign"]).rpartition(".")
    table = (missed["table"] or owner).lower()
    own = next((columns for each, columns in tables.items() if each.lower() == table), None)
    known = columns_of(tables) if own is None else list(own)
    if own is None and not is_built:
        near = closest(name, known)
        return suggestion(near, name) if near else "Define it in the schema, or name a column that is there."
    only = f"The only column is {quoted(known[0])}." if known else None
    return did_you_mean(name, known, kind="columns") or only


def _word(found: str) -> str | None:
    if found.upper() in _BEGINNING:
        return "If a statement begins there, end the one before it with a semicolon."
    meant = closest(found, _KEYWORDS)
    return suggestion(meant, found) if meant and meant != found.upper() else None


__all__ = ["is_query", "way_out"]
