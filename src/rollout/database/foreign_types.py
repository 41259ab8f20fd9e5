"""Which type of SQLite a column of another SQL dialect comes to, and how its texts are compared."""

from __future__ import annotations

import re

from sqlglot import exp

from rollout.database.foreign_statements import Scope, Statement
from rollout.database.moments import kind_of

WHOLE = {
    *("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "INT128", "UTINYINT", "USMALLINT", "UMEDIUMINT"),
    *("UINT", "UBIGINT", "YEAR", "BOOLEAN"),
}
REAL = {
    *("FLOAT", "DOUBLE", "DECIMAL", "UDECIMAL", "UDOUBLE", "MONEY", "SMALLMONEY", "BIGDECIMAL", "DECFLOAT"),
    *("DECIMAL32", "DECIMAL64", "DECIMAL128"),
}
TEXT = {
    *("CHAR", "NCHAR", "BPCHAR", "VARCHAR", "NVARCHAR", "TEXT", "NAME", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT"),
    *("UUID", "JSON", "JSONB", "XML", "INET", "TIME", "TIMETZ", "UNIQUEIDENTIFIER", "ENUM"),
}
# Where these are compared without regard to case, unless a collation says otherwise.
_BLIND_TO_CASE = {"mysql", "tsql"}
_WORDS = {"CHAR", "NCHAR", "VARCHAR", "NVARCHAR", "TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM"}
_SEES_CASE = re.compile(r"_(?:bin|cs|cs_as|bin2)(?:_|\b)|^binary$", re.IGNORECASE)
_COLLATION_OF_TABLE = re.compile(r"\)[^()]*\bCOLLATE\s*=?\s*['\"]?(\w+)['\"]?[^()]*$", re.IGNORECASE)
_BYTES = {"BINARY", "VARBINARY", "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB"}
_SERIAL = {"SERIAL", "BIGSERIAL", "SMALLSERIAL"}


def _name(kind: exp.DataType | None) -> str:
    """What sqlglot calls a type that it knows; empty for any other."""
    return str(kind.this.name) if kind is not None and isinstance(kind.this, exp.DType) else ""


def counts_by_type(column: exp.ColumnDef) -> bool:
    """Whether the type of a column says that it counts its rows by itself."""
    return _name(column.kind) in _SERIAL


def holds_bytes(kind: exp.DataType) -> bool:
    """Whether a type holds bytes, and no text."""
    return _name(kind) in _BYTES


def is_blind_to_case(statement: Statement, column: exp.ColumnDef, scope: Scope) -> bool:
    """Whether the texts of a column are the same in capitals and small letters."""
    is_text = scope.dialect in _BLIND_TO_CASE and _name(column.kind) in _WORDS
    return is_text and not _sees_case(statement, column)


def type_in_sqlite(
    statement: Statement, column: exp.ColumnDef, scope: Scope, *, counts: bool
) -> tuple[str, exp.ColumnConstraint | None]:
    """The type of a column, and what an ENUM lets through; ``counts`` says that it counts its rows by itself."""
    kind = column.kind
    if kind is None:
        return "", None
    name = kind.this.name if isinstance(kind.this, exp.DType) else str(kind.this)
    if counts:
        return "INTEGER", None
    if name in WHOLE or (name == "BIT" and not kind.expressions):
        return "INTEGER", None
    if name in REAL:
        return "REAL", None
    if name in _BYTES:
        return "BLOB", None
    own = str(kind.args.get("kind") or kind.this).strip('"`').rpartition(".")[2].lower()
    values = [each.name for each in kind.expressions] if name == "ENUM" else scope.enums.get(own)
    if values:
        quoted = [exp.Literal.string(value) for value in values]
        check = exp.In(this=exp.column(column.this.copy()), expressions=quoted)
        return "TEXT", exp.ColumnConstraint(kind=exp.CheckColumnConstraint(this=check))
    if name in TEXT or kind_of(kind) is not None:
        return "TEXT", None
    if own in scope.unmade:
        return "TEXT", None
    written_type = kind.sql(scope.dialect)
    statement.refuse(
        f"the type {written_type} of the column “{column.name}” has no counterpart in SQLite", column
    )
    return "TEXT", None


def _sees_case(statement: Statement, column: exp.ColumnDef) -> bool:
    said = column.find(exp.CollateColumnConstraint)
    if said is not None:
        return _SEES_CASE.search(said.this.name) is not None
    of_table = _COLLATION_OF_TABLE.search(statement.text)
    return of_table is not None and _SEES_CASE.search(of_table[1]) is not None


__all__ = ["REAL", "TEXT", "WHOLE", "counts_by_type", "holds_bytes", "is_blind_to_case", "type_in_sqlite"]
