"""Carries a schema and a seed of another SQL dialect over to SQLite, or says which line cannot be.

Only what means the same in SQLite is carried over: tables with plain types, keys, checks and defaults, indexes, views,
and the rows. What does not change what a query comes to (owners, comments, grants, storage) is dropped. Everything
else is refused, since a database that is nearly right makes answers that are nearly right.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from difflib import get_close_matches
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import ErrorLevel

from rollout.database import DatabaseError
from rollout.database.echoes import unmade_by
from rollout.database.foreign_expressions import carry_expressions
from rollout.database.foreign_rows import carry_rows
from rollout.database.foreign_statements import (
    Scope,
    Statement,
    UntranslatableError,
    read,
    refused_where_too_deep,
)
from rollout.database.foreign_tables import carry_index, carry_table

_ALSO_CALLED = {
    "postgresql": "postgres",
    "pg": "postgres",
    "mariadb": "mysql",
    "mssql": "tsql",
    "sqlserver": "tsql",
}
_DROPPED = (
    exp.Set,
    exp.Comment,
    exp.Grant,
    exp.Use,
    exp.Transaction,
    exp.Commit,
    exp.Analyze,
    exp.Pragma,
)
_DROPPED_COMMANDS = re.compile(
    r"(?:SET|GRANT|REVOKE|LOCK|UNLOCK|ANALYZE|VACUUM|COMMENT|START|BEGIN|COMMIT|USE|GO|PRINT|DISCARD|RESET)\b"
    r"|CREATE\s+EXTENSION\b|ALTER\s+\w+(?:\s+\w+)*?\s+[\w.\"`]+\s+OWNER\s+TO\b|ALTER\s+TABLE\s+\S+\s+"
    r"(?:DISABLE|ENABLE)\s+KEYS",
    re.IGNORECASE,
)
_ESCAPING = ("postgres", "redshift", "duckdb")
_SETTINGS = {"set_config", "setval"}


class Translator:
    """Carries texts of one dialect over, schema first; times are reckoned from ``moment``. Raises DatabaseError."""

    def __init__(self, dialect: str, moment: datetime, *, read_only: bool = True) -> None:
        name = _ALSO_CALLED.get(dialect.lower(), dialect.lower())
        known = sorted(sqlglot.Dialect.classes)
        if name not in known or not name:
            close = get_close_matches(name, known, n=1)
            meant = (
                f" Did you mean “{close[0]}”?" if close else f" Known are {', '.join(filter(None, known))}."
            )
            raise DatabaseError(f"There is no SQL dialect “{dialect}”.{meant}")
        self.scope = Scope(name, moment.replace(tzinfo=None), read_only)

    def translate(self, text: str) -> Iterator[tuple[int, int, str]]:
        """The statements of ``text``: where each stands, and its SQL for SQLite. Raises UntranslatableError."""
        parsed = list(read(text, self.scope.dialect))
        kept: list[Statement] = []
        for statement in parsed:
            with refused_where_too_deep(statement):
                if statement.tree is not None and not statement.faults and self._prepare(statement, kept):
                    kept.append(statement)
            if statement.faults:
                self.scope.unmade |= unmade_by(statement.text)
        done: list[tuple[int, int, str]] = []
        for statement in kept:
            with refused_where_too_deep(statement):
                self._carry(statement)
                if not statement.faults:
                    done.append((statement.start, statement.end, _written(statement)))
        if faults := [fault for statement in parsed for fault in statement.faults]:
            raise UntranslatableError(sorted(faults))
        yield from done

    # What a statement is

    def _prepare(self, statement: Statement, kept: list[Statement]) -> bool:
        """Whether the statement is to be carried over; what later statements say of tables is put into them."""
        tree = statement.tree
        if isinstance(tree, _DROPPED):
            return False
        if isinstance(tree, exp.Command):
            if not _DROPPED_COMMANDS.match(statement.text):
                self._refuse_kind(statement, " ".join(statement.text.split()[:2]).upper())
            return False
        if isinstance(tree, exp.Select):
            called = {node.name.lower() for node in tree.find_all(exp.Anonymous)}
            if not called & _SETTINGS:
                statement.refuse("a query makes nothing; leave it out")
            return False
        if isinstance(tree, exp.Create):
            return self._prepare_create(statement, tree)
        if isinstance(tree, exp.Alter):
            self._alter(statement, tree, kept)
            return False
        if isinstance(tree, exp.Drop):
            return str(tree.args.get("kind")).upper() in ("TABLE", "VIEW", "INDEX")
        if isinstance(tree, exp.Insert | exp.Update | exp.Delete):
            return True
        self._refuse_kind(statement, statement.text.split(None, 1)[0].upper())
        return False

    def _refuse_kind(self, statement: Statement, what: str) -> None:
        statement.refuse(f"{what} cannot be carried over to SQLite")

    def _prepare_create(self, statement: Statement, tree: exp.Create) -> bool:
        kind = str(tree.args.get("kind")).upper()
        if kind in ("SCHEMA", "DATABASE"):
            return False
        if kind == "TYPE":
            values = [each.name for each in tree.find_all(exp.Literal)]
            if not re.search(r"\bAS\s+ENUM\b", statement.text, re.IGNORECASE) or not values:
                statement.refuse("a type of one's own that is no ENUM cannot be carried over to SQLite")
            self.scope.enums[tree.this.name.lower()] = values
            return False
        if kind not in ("TABLE", "VIEW", "INDEX"):
            self._refuse_kind(statement, f"CREATE {kind}")
            return False
        properties = tree.args.get("properties")
        for each in properties.expressions if properties else ():
            if isinstance(each, exp.PartitionedByProperty | exp.PartitionedOfProperty | exp.InheritsProperty):
                statement.refuse("partitions and inheritance cannot be carried over to SQLite")
            if isinstance(each, exp.MaterializedProperty):
                statement.refuse("a materialized view cannot be carried over to SQLite", word="MATERIALIZED")
        tree.set("properties", None)
        return True

    def _alter(self, statement: Statement, tree: exp.Alter, kept: list[Statement]) -> None:
        made = next((each.tree for each in kept if _makes(each.tree, tree.this.name)), None)
        for action in tree.args.get("actions") or ():
            if isinstance(action, exp.AddConstraint) and made is not None:
                for constraint in action.expressions:
                    made.this.append("expressions", constraint.copy())
            elif (
                isinstance(action, exp.AlterColumn) and made is not None and self._alter_column(made, action)
            ):
                continue
            elif tree.this.name.lower() not in self.scope.unmade:
                statement.refuse("this change of a table cannot be carried over; write it into CREATE TABLE")

    def _alter_column(self, made: exp.Create, action: exp.AlterColumn) -> bool:
        column = next((each for each in made.this.expressions if _is_column(each, action.name)), None)
        default = action.args.get("default")
        if column is None or default is None:
            return False
        column.append(
            "constraints", exp.ColumnConstraint(kind=exp.DefaultColumnConstraint(this=default.copy()))
        )
        return True

    # Carrying over

    def _carry(self, statement: Statement) -> None:
        tree = statement.tree
        for node in list(tree.find_all(exp.ByteString)) if self.scope.dialect in _ESCAPING else ():
            node.replace(exp.Literal.string(node.name))  # E'…', whose escapes are read by now
        if isinstance(tree, exp.Create) and str(tree.args.get("kind")).upper() == "TABLE":
            carry_table(statement, tree, self.scope)
        elif isinstance(tree, exp.Create) and str(tree.args.get("kind")).upper() == "INDEX":
            carry_index(tree)
        elif isinstance(tree, exp.Insert):
            carry_rows(statement, tree, self.scope)
        for node in list(tree.find_all(exp.Table)):
            node.set("db", None)
            node.set("catalog", None)
        carry_expressions(statement, tree, self.scope)


def _written(statement: Statement) -> str:
    tree = statement.tree
    pretty = isinstance(tree, exp.Create)
    sql: str = tree.sql("sqlite", pretty=pretty, unsupported_level=ErrorLevel.IGNORE)
    return sql


def _makes(tree: Any, table: str) -> bool:
    if not isinstance(tree, exp.Create) or not isinstance(tree.this, exp.Schema):
        return False
    return bool(tree.this.this.name.lower() == table.lower())


def _is_column(member: Any, name: str) -> bool:
    return isinstance(member, exp.ColumnDef) and member.name.lower() == name.lower()


__all__ = ["Translator"]
