"""Carries a schema and a seed of another SQL dialect over to SQLite, or says which line cannot be.

Only what means the same in SQLite is carried over: tables with plain types, keys, checks and defaults, indexes, views,
and the rows. What does not change what a query comes to (owners, comments, grants, storage) is dropped. Everything
else is refused, since a database that is nearly right makes answers that are nearly right.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from difflib import get_close_matches
from typing import Any

from rollout.database import DatabaseError

try:
    import sqlglot
    from sqlglot import exp
    from sqlglot.errors import ErrorLevel, ParseError, SqlglotError, TokenError
except ImportError:
    raise DatabaseError(
        "“dialect” needs the package sqlglot. Install it: pip install 'rolloutdev[sql]', in a clone -e '.[sql]'"
    ) from None

from rollout.database.echoes import unmade_by
from rollout.database.moments import kind_of, read_moment, work_out, written

# It reports what it could not parse there, which is told as a problem with its place here.
logging.getLogger("sqlglot").setLevel(logging.CRITICAL)

_ALSO_CALLED = {
    "postgresql": "postgres",
    "pg": "postgres",
    "mariadb": "mysql",
    "mssql": "tsql",
    "sqlserver": "tsql",
}
_WHOLE = {
    *("TINYINT", "SMALLINT", "MEDIUMINT", "INT", "BIGINT", "INT128", "UTINYINT", "USMALLINT", "UMEDIUMINT"),
    *("UINT", "UBIGINT", "YEAR", "BOOLEAN"),
}
_SERIAL = {"SERIAL", "BIGSERIAL", "SMALLSERIAL"}
_REAL = {
    *("FLOAT", "DOUBLE", "DECIMAL", "UDECIMAL", "UDOUBLE", "MONEY", "SMALLMONEY", "BIGDECIMAL", "DECFLOAT"),
    *("DECIMAL32", "DECIMAL64", "DECIMAL128"),
}
_TEXT = {
    *("CHAR", "NCHAR", "BPCHAR", "VARCHAR", "NVARCHAR", "TEXT", "NAME", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT"),
    *("UUID", "JSON", "JSONB", "XML", "INET", "TIME", "TIMETZ", "UNIQUEIDENTIFIER", "ENUM"),
}
# Where these are compared without regard to case, unless a collation says otherwise.
_BLIND_TO_CASE = {"mysql", "tsql"}
_WORDS = {"CHAR", "NCHAR", "VARCHAR", "NVARCHAR", "TEXT", "TINYTEXT", "MEDIUMTEXT", "LONGTEXT", "ENUM"}
_SEES_CASE = re.compile(r"_(?:bin|cs|cs_as|bin2)(?:_|\b)|^binary$", re.IGNORECASE)
_COLLATION_OF_TABLE = re.compile(r"\)[^()]*\bCOLLATE\s*=?\s*['\"]?(\w+)['\"]?[^()]*$", re.IGNORECASE)
_BYTES = {"BINARY", "VARBINARY", "BLOB", "TINYBLOB", "MEDIUMBLOB", "LONGBLOB"}

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
_SAID_OF_COLUMNS = (
    exp.PrimaryKeyColumnConstraint,
    exp.CommentColumnConstraint,
    exp.CharacterSetColumnConstraint,
    exp.CollateColumnConstraint,
)
_ESCAPING = ("postgres", "redshift", "duckdb")
_SETTINGS = {"set_config", "setval"}
_COPY = re.compile(r"^COPY\s[^;]*?\bFROM\s+STDIN\b[^\n]*", re.IGNORECASE | re.MULTILINE)

# Functions and operators that mean the same on both sides, or that sqlglot rewrites so that they do.
_SAME: tuple[type[exp.Expression], ...] = (
    *(
        exp.Literal,
        exp.Null,
        exp.Boolean,
        exp.Column,
        exp.Identifier,
        exp.Neg,
        exp.Paren,
        exp.Add,
        exp.Sub,
        exp.Mul,
    ),
    *(exp.Div, exp.Mod, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.And, exp.Or, exp.Not, exp.In),
    *(
        exp.Between,
        exp.Is,
        exp.ILike,
        exp.Glob,
        exp.Case,
        exp.If,
        exp.Coalesce,
        exp.Nullif,
        exp.Lower,
        exp.Upper,
    ),
    *(
        exp.Length,
        exp.Abs,
        exp.Round,
        exp.Trim,
        exp.Substring,
        exp.DPipe,
        exp.Concat,
        exp.Count,
        exp.Sum,
        exp.Avg,
    ),
    *(
        exp.Min,
        exp.Max,
        exp.Tuple,
        exp.Values,
        exp.Select,
        exp.From,
        exp.Join,
        exp.Where,
        exp.Group,
        exp.Having,
    ),
    *(
        exp.Order,
        exp.Ordered,
        exp.Limit,
        exp.Offset,
        exp.Subquery,
        exp.Alias,
        exp.Star,
        exp.Union,
        exp.Except,
    ),
    *(exp.Intersect, exp.With, exp.CTE, exp.Distinct, exp.Exists, exp.TableAlias, exp.Table, exp.CurrentDate),
    *(exp.CurrentTimestamp, exp.CurrentTime, exp.CurrentDatetime, exp.Localtimestamp, exp.Schema, exp.Cast),
    *(
        exp.DataType,
        exp.DataTypeParam,
        exp.OnConflict,
        exp.Insert,
        exp.Update,
        exp.Delete,
        exp.Returning,
        exp.Var,
    ),
    *(exp.HexString, exp.National, exp.Index, exp.IndexParameters, exp.Properties, exp.RowNumber, exp.Window),
)

_ARITHMETIC = (exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Neg)


class UntranslatableError(DatabaseError):
    """SQL that cannot be carried over: for each place its start and end in the text, and the reason."""

    def __init__(self, places: list[tuple[int, int, str]]) -> None:
        super().__init__(places[0][2])
        self.places = places


@dataclass(slots=True)
class _Table:
    """A table that was made: its column types by name, for the rows that follow."""

    space: str
    types: dict[str, exp.DataType]


@dataclass(slots=True)
class _Statement:
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
        self.name = name
        self.now = moment.replace(tzinfo=None)
        self.read_only = read_only
        self.tables: dict[str, _Table] = {}
        self.enums: dict[str, list[str]] = {}
        self._unmade: frozenset[str] = frozenset()

    def translate(self, text: str) -> Iterator[tuple[int, int, str]]:
        """The statements of ``text``: where each stands, and its SQL for SQLite. Raises UntranslatableError."""
        parsed = list(self._parse(text))
        kept: list[_Statement] = []
        for statement in parsed:
            with _refused_where_too_deep(statement):
                if statement.tree is not None and not statement.faults and self._prepare(statement, kept):
                    kept.append(statement)
            if statement.faults:
                self._unmade |= unmade_by(statement.text)
        done: list[tuple[int, int, str]] = []
        for statement in kept:
            with _refused_where_too_deep(statement):
                self._carry(statement)
                if not statement.faults:
                    done.append((statement.start, statement.end, self._write(statement)))
        if faults := [fault for statement in parsed for fault in statement.faults]:
            raise UntranslatableError(sorted(faults))
        yield from done

    def _parse(self, text: str) -> Iterator[_Statement]:
        if copied := _COPY.search(text):
            reason = "COPY … FROM stdin is for psql and holds no SQL; dump the rows as INSERT statements"
            raise UntranslatableError([(copied.start(), copied.end(), reason)])
        dialect = sqlglot.Dialect.get_or_raise(self.name)
        try:
            tokens = dialect.tokenize(text)
        except TokenError as error:
            told = re.search(r" from \d+:(\d+)", str(error.__cause__))
            start = int(told[1]) if told else 0
            reason = f"it cannot be read as {self.name}: a text or a comment has no end"
            raise UntranslatableError([(min(start, len(text)), len(text), reason)]) from None
        first: int | None = None
        last = 0
        for token in [*tokens, None]:
            if token is not None and token.token_type is not sqlglot.TokenType.SEMICOLON:
                first = token.start if first is None else first
                last = token.end + 1
                continue
            if first is not None:
                yield self._parsed(text[first:last], first, last)
            first = None

    def _parsed(self, text: str, start: int, end: int) -> _Statement:
        statement = _Statement(start, end, text, None)
        try:
            with _refused_where_too_deep(statement):
                statement.tree = sqlglot.parse_one(text, read=self.name, error_level=ErrorLevel.RAISE)
        except ParseError as error:
            told = error.errors[0] if error.errors else {}
            what = str(told.get("description") or "it is not understood").rstrip(".")
            statement.refuse(
                f"it cannot be read as {self.name}: {what}", word=str(told.get("highlight") or "")
            )
        except SqlglotError as error:
            statement.refuse(f"it cannot be read as {self.name}: {str(error).partition(chr(10))[0]}")
        except Exception:
            # What no dialect has may end its parser in any error.
            statement.refuse(f"it cannot be read as {self.name}")
        return statement

    # What a statement is

    def _prepare(self, statement: _Statement, kept: list[_Statement]) -> bool:
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

    def _refuse_kind(self, statement: _Statement, what: str) -> None:
        statement.refuse(f"{what} cannot be carried over to SQLite")

    def _prepare_create(self, statement: _Statement, tree: exp.Create) -> bool:
        kind = str(tree.args.get("kind")).upper()
        if kind in ("SCHEMA", "DATABASE"):
            return False
        if kind == "TYPE":
            values = [each.name for each in tree.find_all(exp.Literal)]
            if not re.search(r"\bAS\s+ENUM\b", statement.text, re.IGNORECASE) or not values:
                statement.refuse("a type of one's own that is no ENUM cannot be carried over to SQLite")
            self.enums[tree.this.name.lower()] = values
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

    def _alter(self, statement: _Statement, tree: exp.Alter, kept: list[_Statement]) -> None:
        made = next((each.tree for each in kept if _makes(each.tree, tree.this.name)), None)
        for action in tree.args.get("actions") or ():
            if isinstance(action, exp.AddConstraint) and made is not None:
                for constraint in action.expressions:
                    made.this.append("expressions", constraint.copy())
            elif (
                isinstance(action, exp.AlterColumn) and made is not None and self._alter_column(made, action)
            ):
                continue
            elif tree.this.name.lower() not in self._unmade:
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

    def _carry(self, statement: _Statement) -> None:
        tree = statement.tree
        for node in list(tree.find_all(exp.ByteString)) if self.name in _ESCAPING else ():
            node.replace(exp.Literal.string(node.name))  # E'…', whose escapes are read by now
        if isinstance(tree, exp.Create) and str(tree.args.get("kind")).upper() == "TABLE":
            self._table(statement, tree)
        elif isinstance(tree, exp.Create) and str(tree.args.get("kind")).upper() == "INDEX":
            self._index(tree)
        elif isinstance(tree, exp.Insert):
            self._insert(statement, tree)
        for node in list(tree.find_all(exp.Table)):
            node.set("db", None)
            node.set("catalog", None)
        self._expressions(statement, tree)

    def _table(self, statement: _Statement, tree: exp.Create) -> None:
        table = tree.find(exp.Table)
        assert table is not None
        name, space = table.name.lower(), table.db.lower()
        if (known := self.tables.get(name)) is not None and known.space != space:
            statement.refuse(
                f"two tables are called “{table.name}”, in “{known.space}” and “{space}”; SQLite has no schemas",
                table,
            )
        types: dict[str, exp.DataType] = {}
        self.tables[name] = _Table(space, types)
        if not isinstance(tree.this, exp.Schema):
            return
        keys = _primary_key(tree.this)
        kept: list[Any] = []
        for member in tree.this.expressions:
            if isinstance(member, exp.ColumnDef):
                if member.kind is not None:
                    types[member.name.lower()] = member.kind.copy()
                kept.append(self._column(statement, member, keys))
            elif (constraint := self._constraint(statement, member, keys)) is not None:
                kept.append(constraint)
        tree.this.set("expressions", kept)

    def _column(self, statement: _Statement, column: exp.ColumnDef, keys: list[str]) -> exp.ColumnDef:
        kind = column.kind
        name = kind.this.name if kind is not None and isinstance(kind.this, exp.DType) else ""
        alone = keys == [column.name.lower()]
        counts = name in _SERIAL
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
                if not self.read_only:
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
        affinity, check = self._affinity(statement, column, counts=counts)
        if check is not None:
            constraints.append(check)
        if self.name in _BLIND_TO_CASE and name in _WORDS and not self._sees_case(statement, column):
            no_case = exp.CollateColumnConstraint(this=exp.var("NOCASE"))
            constraints.append(exp.ColumnConstraint(kind=no_case))
        made = exp.DataType.build(affinity, udt=True) if affinity else None
        column.set("kind", made)
        column.set("constraints", constraints)
        return column

    def _sees_case(self, statement: _Statement, column: exp.ColumnDef) -> bool:
        said = column.find(exp.CollateColumnConstraint)
        if said is not None:
            return _SEES_CASE.search(said.this.name) is not None
        of_table = _COLLATION_OF_TABLE.search(statement.text)
        return of_table is not None and _SEES_CASE.search(of_table[1]) is not None

    def _affinity(
        self, statement: _Statement, column: exp.ColumnDef, *, counts: bool
    ) -> tuple[str, exp.ColumnConstraint | None]:
        kind = column.kind
        if kind is None:
            return "", None
        name = kind.this.name if isinstance(kind.this, exp.DType) else str(kind.this)
        if counts:
            return "INTEGER", None
        if name in _WHOLE or (name == "BIT" and not kind.expressions):
            return "INTEGER", None
        if name in _REAL:
            return "REAL", None
        if name in _BYTES:
            return "BLOB", None
        own = str(kind.args.get("kind") or kind.this).strip('"`').rpartition(".")[2].lower()
        values = [each.name for each in kind.expressions] if name == "ENUM" else self.enums.get(own)
        if values:
            quoted = [exp.Literal.string(value) for value in values]
            check = exp.In(this=exp.column(column.this.copy()), expressions=quoted)
            return "TEXT", exp.ColumnConstraint(kind=exp.CheckColumnConstraint(this=check))
        if name in _TEXT or kind_of(kind) is not None:
            return "TEXT", None
        if own in self._unmade:
            return "TEXT", None
        written_type = kind.sql(self.name)
        statement.refuse(
            f"the type {written_type} of the column “{column.name}” has no counterpart in SQLite", column
        )
        return "TEXT", None

    def _constraint(self, statement: _Statement, member: Any, keys: list[str]) -> Any:
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

    def _index(self, tree: exp.Create) -> None:
        index = tree.this
        parameters = index.args.get("params") if isinstance(index, exp.Index) else None
        if parameters is not None:
            for name in ("using", "include", "with_storage", "tablespace"):
                parameters.set(name, None)
            for ordered in parameters.args.get("columns") or ():
                if isinstance(ordered, exp.Ordered):
                    # As SQLite has them by itself; where NULL stands in an index changes no result.
                    ordered.set("nulls_first", not ordered.args.get("desc"))

    def _insert(self, statement: _Statement, tree: exp.Insert) -> None:
        if tree.args.get("conflict") is not None and tree.args["conflict"].args.get("duplicate"):
            statement.refuse("ON DUPLICATE KEY cannot be carried over to SQLite", word="DUPLICATE")
        target = tree.find(exp.Table)
        known = self.tables.get(target.name.lower()) if target is not None else None
        values = tree.expression
        if known is None or not isinstance(values, exp.Values):
            return
        named = tree.this.expressions if isinstance(tree.this, exp.Schema) else []
        columns = [each.name.lower() for each in named] or list(known.types)
        for row in values.expressions:
            cells = row.expressions if isinstance(row, exp.Tuple) else [row]
            for column, cell in zip(columns, cells, strict=False):
                if (kind := known.types.get(column)) is not None:
                    self._cell(statement, column, cell, kind)

    def _cell(self, statement: _Statement, column: str, cell: Any, kind: exp.DataType) -> None:
        """Writes a time as its column stores it, and bytes as SQLite writes them."""
        stored = kind_of(kind)
        if stored is not None:
            is_text = isinstance(cell, exp.Literal) and cell.is_string
            moment = read_moment(cell.name) if is_text else work_out(cell, self.now)
            if hasattr(moment, "year"):
                cell.replace(exp.Literal.string(written(moment, stored)))  # type: ignore[arg-type]
            elif is_text:
                statement.refuse(
                    f"the time “{cell.name}” of the column “{column}” is not written as 2025-05-31 12:00:00",
                    word=cell.name,
                )
        elif (
            isinstance(kind.this, exp.DType)
            and kind.this.name in _BYTES
            and isinstance(cell, exp.Literal)
            and re.fullmatch(r"\\x(?:[0-9a-fA-F]{2})*", cell.name)
        ):
            cell.replace(exp.HexString(this=cell.name[2:]))

    def _expressions(self, statement: _Statement, tree: Any) -> None:
        is_table = isinstance(tree, exp.Create) and isinstance(tree.this, exp.Schema)
        roots = (
            list(tree.find_all(exp.DefaultColumnConstraint, exp.CheckColumnConstraint))
            if is_table
            else [tree]
        )
        for root in roots:
            self._fold(statement, root)
            for node in root.walk():
                if node is tree or (is_table and node is root):
                    continue
                if not self._means_the_same(node):
                    words = node.sql(self.name)
                    words = words if len(words) <= 60 else f"{words[:59]}…"
                    statement.refuse(f"{words} has no counterpart in SQLite", node, word=_first_word(words))
                    break

    def _fold(self, statement: _Statement, root: Any) -> None:
        """Writes down the times that are worked out already, each as a whole."""
        if isinstance(root, exp.DefaultColumnConstraint) and not root.find(
            exp.Interval, exp.Cast, *_ARITHMETIC
        ):
            return  # DEFAULT CURRENT_TIMESTAMP is asked when a row is made

        def fold(node: Any) -> bool:
            if isinstance(node, exp.Interval | exp.Schema) or node is root or node.parent is None:
                return False
            moment = work_out(node, self.now)
            if not hasattr(moment, "year"):
                return False
            if isinstance(node.parent, _ARITHMETIC):
                statement.refuse("this arithmetic with a time has no counterpart in SQLite", node.parent)
            node.replace(exp.Literal.string(written(moment)))  # type: ignore[arg-type]
            return True

        for _ in root.walk(prune=fold):
            pass

    def _means_the_same(self, node: Any) -> bool:
        if isinstance(node, exp.Like):
            pattern = node.expression
            if self.name in ("mysql", "tsql"):
                return True
            if not isinstance(pattern, exp.Literal) or re.search(r"[*?\[\]\\]", pattern.name):
                return False
            # SQLite's LIKE takes capitals and small letters as the same.
            glob = exp.Literal.string(pattern.name.replace("%", "*").replace("_", "?"))
            node.replace(exp.Glob(this=node.this.copy(), expression=glob))
            return True
        if isinstance(node, exp.Cast):
            return kind_of(node.to) is None and node.to.this.name in _WHOLE | _REAL | _TEXT
        return isinstance(node, _SAME)

    def _write(self, statement: _Statement) -> str:
        tree = statement.tree
        pretty = isinstance(tree, exp.Create)
        sql: str = tree.sql("sqlite", pretty=pretty, unsupported_level=ErrorLevel.IGNORE)
        return sql


@contextmanager
def _refused_where_too_deep(statement: _Statement) -> Iterator[None]:
    try:
        yield
    except RecursionError:
        statement.refuse("its parentheses or operators are nested too deeply to be carried over")


def _makes(tree: Any, table: str) -> bool:
    if not isinstance(tree, exp.Create) or not isinstance(tree.this, exp.Schema):
        return False
    return bool(tree.this.this.name.lower() == table.lower())


def _is_column(member: Any, name: str) -> bool:
    return isinstance(member, exp.ColumnDef) and member.name.lower() == name.lower()


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


def _first_word(text: str) -> str:
    found = re.search(r"[A-Za-z_]\w*", text)
    return found.group() if found else ""


__all__ = ["Translator", "UntranslatableError"]
