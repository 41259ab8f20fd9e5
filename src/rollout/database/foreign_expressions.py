"""Carries the expressions of another SQL dialect over to SQLite where they mean the same there."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from sqlglot import exp

from rollout.database.foreign_statements import Scope, Statement
from rollout.database.foreign_types import REAL, TEXT, WHOLE
from rollout.database.moments import kind_of, work_out, written

# Functions and operators that mean the same on both sides, or that sqlglot rewrites so that they do.
_SAME = (
    *(exp.Literal, exp.HexString, exp.National, exp.Null, exp.Boolean, exp.Identifier, exp.Column, exp.Star),
    *(exp.Var, exp.Paren, exp.Tuple, exp.Cast, exp.DataType, exp.DataTypeParam),
    *(exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.DPipe, exp.Concat),
    *(exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is, exp.In, exp.Between, exp.ILike, exp.Glob),
    *(exp.And, exp.Or, exp.Not, exp.Exists, exp.Case, exp.If, exp.Coalesce, exp.Nullif),
    *(exp.Lower, exp.Upper, exp.Length, exp.Trim, exp.Substring, exp.Abs, exp.Round),
    *(exp.Count, exp.Sum, exp.Avg, exp.Min, exp.Max, exp.RowNumber, exp.Window, exp.Distinct),
    *(exp.CurrentDate, exp.CurrentTime, exp.CurrentTimestamp, exp.CurrentDatetime, exp.Localtimestamp),
    *(exp.Select, exp.From, exp.Join, exp.Where, exp.Group, exp.Having, exp.Order, exp.Ordered, exp.Limit),
    *(exp.Offset, exp.Values, exp.Subquery, exp.Union, exp.Except, exp.Intersect, exp.With, exp.CTE),
    *(exp.Table, exp.Alias, exp.TableAlias, exp.Schema, exp.Index, exp.IndexParameters, exp.Properties),
    *(exp.Insert, exp.OnConflict, exp.Update, exp.Delete, exp.Returning),
)
_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg)


def carry_expressions(statement: Statement, tree: Any, scope: Scope) -> None:
    """Rewrites the expressions of a statement, and refuses those that mean something else in SQLite."""
    is_table = isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema)
    roots = (
        list(tree.find_all(exp.DefaultColumnConstraint, exp.CheckColumnConstraint)) if is_table else [tree]
    )
    for root in roots:
        _fold(statement, root, scope.now)
        for node in root.walk():
            if node is tree or (is_table and node is root):
                continue
            if not _means_the_same(node, scope.dialect):
                words = node.sql(scope.dialect)
                words = words if len(words) <= 60 else f"{words[:59]}…"
                statement.refuse(f"{words} has no counterpart in SQLite", node, word=_first_word(words))
                break


def _fold(statement: Statement, root: Any, now: datetime) -> None:
    """Writes down the times that are worked out already, each as a whole."""
    if isinstance(root, exp.DefaultColumnConstraint) and not root.find(exp.Interval, exp.Cast, *_ARITHMETIC):
        return  # DEFAULT CURRENT_TIMESTAMP is asked when a row is made

    def fold(node: Any) -> bool:
        if isinstance(node, exp.Interval | exp.Schema) or node is root or node.parent is None:
            return False
        moment = work_out(node, now)
        if not hasattr(moment, "year"):
            return False
        if isinstance(node.parent, _ARITHMETIC):
            statement.refuse("this arithmetic with a time has no counterpart in SQLite", node.parent)
        node.replace(exp.Literal.string(written(moment)))  # type: ignore[arg-type]
        return True

    for _ in root.walk(prune=fold):
        pass


def _means_the_same(node: Any, dialect: str) -> bool:
    if isinstance(node, exp.Like):
        pattern = node.expression
        if dialect in ("mysql", "tsql"):
            return True
        if not isinstance(pattern, exp.Literal) or re.search(r"[*?\[\]\\]", pattern.name):
            return False
        # SQLite's LIKE takes capitals and small letters as the same.
        glob = exp.Literal.string(pattern.name.replace("%", "*").replace("_", "?"))
        node.replace(exp.Glob(this=node.this.copy(), expression=glob))
        return True
    if isinstance(node, exp.Cast):
        return kind_of(node.to) is None and node.to.this.name in WHOLE | REAL | TEXT
    return isinstance(node, _SAME)


def _first_word(text: str) -> str:
    found = re.search(r"[A-Za-z_]\w*", text)
    return found.group() if found else ""


__all__ = ["carry_expressions"]
