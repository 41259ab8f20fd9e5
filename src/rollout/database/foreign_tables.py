"""Carries CREATE TABLE and CREATE INDEX of another SQL dialect over to SQLite."""

from __future__ import annotations

from typing import Any

from sqlglot import exp

from rollout.database.foreign_statements import Scope, Statement, Table
from rollout.database.foreign_types import counts_by_type, is_blind_to_case, type_in_sqlite

_SAID_OF_COLUMNS = (
    exp.PrimaryKeyColumnConstraint,
    exp.CommentColumnConstraint,
    exp.CharacterSetColumnConstraint,
    exp.CollateColumnConstraint,
)


def carry_table(statement: Statement, tree: exp.Create, scope: Scope) -> None:
    """Rewrites a CREATE TABLE, and keeps what types its columns have."""
    table = tree.find(exp.Table)
    assert table is not None
    name, space = table.name.lower(), table.db.lower()
    if (known := scope.tables.get(name)) is not None and known.space != space:
        statement.refuse(
            f"two tables are called “{table.name}”, in “{known.space}” and “{space}”; SQLite has no schemas",
            table,
        )
    types: dict[str, exp.DataType] = {}
    scope.tables[name] = Table(space, types)
    if not isinstance(tree.this, exp.Schema):
        return
    keys = _primary_key(tree.this)
    kept: list[Any] = []
    for member in tree.this.expressions:
        if isinstance(member, exp.ColumnDef):
            if member.kind is not None:
                types[member.name.lower()] = member.kind.copy()
            kept.append(_column(statement, member, keys, scope))
        elif (constraint := _constraint(statement, member, keys)) is not None:
            kept.append(constraint)
    tree.this.set("expressions", kept)


def _column(statement: Statement, column: exp.ColumnDef, keys: list[str], scope: Scope) -> exp.ColumnDef:
    alone = keys == [column.name.lower()]
    counts = counts_by_type(column)
    constraints: list[Any] = []
    for constraint in column.args.get("constraints") or ():
        what = constraint.args.get("kind")
        if isinstance(what, exp.AutoIncrementColumnConstraint | exp.GeneratedAsIdentityColumnConstraint):
            counts = counts or not what.args.get("expression")
        elif isinstance(what, exp.DefaultColumnConstraint):
            if any(node.name.lower() == "nextval" for node in what.find_all(exp.Anonymous)):
                counts = True
            else:
                what.set("this", _in_parentheses(what.this))
                constraints.append(constraint)
        elif isinstance(what, exp.OnUpdateColumnConstraint):
            if not scope.read_only:
                statement.refuse("ON UPDATE of a column cannot be carried over to SQLite", column)
        elif isinstance(what, _SAID_OF_COLUMNS):
            continue
        elif isinstance(
            what,
            exp.NotNullColumnConstraint
            | exp.UniqueColumnConstraint
            | exp.CheckColumnConstraint
            | exp.Reference
            | exp.ComputedColumnConstraint,
        ):
            constraints.append(constraint)
        else:
            statement.refuse(f"what is said of the column “{column.name}” cannot be carried over", column)
    if counts and not alone:
        statement.refuse(
            f"the column “{column.name}” counts by itself, which in SQLite only a primary key of one column can",
            column,
        )
    if column.name.lower() in keys and not _has(constraints, exp.NotNullColumnConstraint) and not counts:
        constraints.insert(0, exp.ColumnConstraint(kind=exp.NotNullColumnConstraint()))
    if alone:
        constraints.insert(0, exp.ColumnConstraint(kind=exp.PrimaryKeyColumnConstraint()))
    affinity, check = type_in_sqlite(statement, column, scope, counts=counts)
    if check is not None:
        constraints.append(check)
    if is_blind_to_case(statement, column, scope):
        no_case = exp.CollateColumnConstraint(this=exp.var("NOCASE"))
        constraints.append(exp.ColumnConstraint(kind=no_case))
    made = exp.DataType.build(affinity, udt=True) if affinity else None
    column.set("kind", made)
    column.set("constraints", constraints)
    return column


def _constraint(statement: Statement, member: Any, keys: list[str]) -> Any:
    inner = member.expressions[0] if isinstance(member, exp.Constraint) and member.expressions else member
    if isinstance(inner, exp.PrimaryKey):
        columns = [exp.to_identifier(key.name, quoted=True) for key in inner.expressions]
        return None if len(keys) == 1 else exp.PrimaryKey(expressions=columns)
    if isinstance(inner, exp.IndexColumnConstraint):
        return None
    if isinstance(inner, exp.UniqueColumnConstraint) and isinstance(inner.this, exp.Schema):
        names = [each.find(exp.Identifier) for each in inner.this.expressions]
        unnamed = exp.Schema(expressions=[name.copy() for name in names if name is not None])
        return exp.UniqueColumnConstraint(this=unnamed)
    if isinstance(inner, exp.ForeignKey):
        inner.set("options", None)
        return member
    if isinstance(inner, exp.CheckColumnConstraint | exp.UniqueColumnConstraint):
        return member
    statement.refuse("this constraint cannot be carried over to SQLite", inner)
    return None


def carry_index(tree: exp.Create) -> None:
    """Rewrites a CREATE INDEX without what only says how it is kept."""
    index = tree.this
    parameters = index.args.get("params") if isinstance(index, exp.Index) else None
    if parameters is not None:
        for name in ("using", "include", "with_storage", "tablespace"):
            parameters.set(name, None)
        for ordered in parameters.args.get("columns") or ():
            if isinstance(ordered, exp.Ordered):
                # As SQLite has them by itself; where NULL stands in an index changes no result.
                ordered.set("nulls_first", not ordered.args.get("desc"))


def _primary_key(table: exp.Schema) -> list[str]:
    for member in table.expressions:
        if isinstance(member, exp.ColumnDef):
            if _has(member.args.get("constraints") or (), exp.PrimaryKeyColumnConstraint):
                return [member.name.lower()]
            continue
        inner = member.expressions[0] if isinstance(member, exp.Constraint) and member.expressions else member
        if isinstance(inner, exp.PrimaryKey):
            return [key.name.lower() for key in inner.expressions]
    return []


def _has(constraints: Any, kind: type) -> bool:
    return any(isinstance(constraint.args.get("kind"), kind) for constraint in constraints)


def _in_parentheses(value: Any) -> Any:
    plain = (
        exp.Literal | exp.Null | exp.Boolean | exp.CurrentTimestamp | exp.CurrentDate | exp.Neg | exp.Paren
    )
    return value if isinstance(value, plain) else exp.Paren(this=value.copy())


__all__ = ["carry_index", "carry_table"]
