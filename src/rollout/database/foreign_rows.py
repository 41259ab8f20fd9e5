"""Carries the rows of an INSERT of another SQL dialect over to SQLite."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from sqlglot import exp

from rollout.database.foreign_statements import Scope, Statement
from rollout.database.foreign_types import holds_bytes
from rollout.database.moments import kind_of, read_moment, work_out, written


def carry_rows(statement: Statement, tree: exp.Insert, scope: Scope) -> None:
    """Rewrites an INSERT, with its times and bytes as SQLite writes them."""
    if tree.args.get("conflict") is not None and tree.args["conflict"].args.get("duplicate"):
        statement.refuse("ON DUPLICATE KEY cannot be carried over to SQLite", word="DUPLICATE")
    target = tree.find(exp.Table)
    known = scope.tables.get(target.name.lower()) if target is not None else None
    values = tree.expression
    if known is None or not isinstance(values, exp.Values):
        return
    named = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
    columns = [each.name.lower() for each in named] or list(known.types)
    for row in values.expressions:
        cells = row.expressions if isinstance(row, exp.Tuple) else [row]
        for column, cell in zip(columns, cells, strict=False):
            if (kind := known.types.get(column)) is not None:
                _cell(statement, column, cell, kind, scope.now)


def _cell(statement: Statement, column: str, cell: Any, kind: exp.DataType, now: datetime) -> None:
    """Writes a time as its column stores it, and bytes as SQLite writes them."""
    stored = kind_of(kind)
    if stored is not None:
        is_text = isinstance(cell, exp.Literal) and cell.is_string
        moment = read_moment(cell.name) if is_text else work_out(cell, now)
        if hasattr(moment, "year"):
            cell.replace(exp.Literal.string(written(moment, stored)))  # type: ignore[arg-type]
        elif is_text:
            statement.refuse(
                f"the time “{cell.name}” of the column “{column}” is not written as 2025-05-31 12:00:00",
                word=cell.name,
            )
    elif (
        holds_bytes(kind)
        and isinstance(cell, exp.Literal)
        and re.fullmatch(r"\\x(?:[0-9a-fA-F]{2})*", cell.name)
    ):
        cell.replace(exp.HexString(this=cell.name[2:]))


__all__ = ["carry_rows"]
