"""The tools of a sql environment as a model is shown them, and their results as a model reads them."""

from __future__ import annotations

from typing import Any

from rollout.database.contents import quote
from rollout.database.running import FAILURES, Outcome, with_memory
from rollout.database.sandbox import Sandbox
from rollout.templates import Result, Tool

MOST_ROWS = 100
"""How many rows of a result are shown."""

LARGEST_RESULT = 40_000
"""About how many characters of rows are shown."""

_LONGEST_CELL = 4_000
_LARGEST_SCHEMA = 60_000


def tools(*, read_only: bool) -> tuple[Tool, ...]:
    """``describe_schema``, ``run_sql`` and ``submit_answer``."""
    what = (
        "One SELECT statement." if read_only else "One statement: SELECT, INSERT, UPDATE, DELETE, CREATE, …"
    )
    return (
        Tool(
            "describe_schema",
            "Shows the tables and views of the database: the statements that made them, and how many rows they have.",
            _object({"table": {"type": "string", "description": "Only this table. All unless given."}}),
        ),
        Tool(
            "run_sql",
            f"Runs one SQL statement in SQLite's dialect and returns its rows, at most {MOST_ROWS} of them.",
            _object({"query": {"type": "string", "minLength": 1, "description": what}}, required=["query"]),
        ),
        Tool(
            "submit_answer",
            "Hands in the answer and ends the task. Give exactly one of answer, rows and query.",
            {
                **_object(
                    {
                        "answer": {
                            "type": ["string", "number", "boolean", "null", "array"],
                            "items": {},
                            "description": "The answer alone, such as 42 or Berlin, without a sentence around it.",
                        },
                        "rows": {
                            "type": "array",
                            "items": {},
                            "description": "The answer as rows, each a list of its values.",
                        },
                        "query": {
                            "type": "string",
                            "minLength": 1,
                            "description": "A SELECT statement whose rows are the answer.",
                        },
                    }
                ),
                "minProperties": 1,
                "maxProperties": 1,
            },
        ),
    )


def _object(properties: dict[str, Any], *, required: list[str] | None = None) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    return {**schema, "additionalProperties": False}


def result_of(outcome: Outcome) -> Result:
    """What a statement came to, for a model: columns and rows, or how many rows were changed."""
    if outcome.failed is not None:
        return Result.failed(f"The statement failed: {outcome.failed}.")
    if not outcome.columns:
        counted = {} if outcome.changed is None else {"changed": outcome.changed}
        return Result.of({"ok": True, **counted})
    cut = 0
    rows: list[list[Any]] = []
    for row in outcome.rows:
        shown = [_cut(value) for value in row]
        cut += sum(a is not b for a, b in zip(shown, row, strict=True))
        rows.append(shown)
    value: dict[str, Any] = {"columns": list(outcome.columns), "rows": rows}
    notes = []
    if outcome.uncounted:
        notes.append(f"More than {outcome.left_out:,} rows left out; the first {len(rows)} are shown.")
    elif outcome.left_out:
        left = f"{outcome.left_out:,} more row{'' if outcome.left_out == 1 else 's'}"
        notes.append(f"{left} left out; the first {len(rows)} of {len(rows) + outcome.left_out:,} are shown.")
    if cut:
        notes.append(
            f"{cut} long value{' was' if cut == 1 else 's were'} cut at {_LONGEST_CELL:,} characters."
        )
    if notes:
        value["note"] = " ".join(notes)
    return Result.of(value)


def _cut(value: Any) -> Any:
    if isinstance(value, str) and len(value) > _LONGEST_CELL:
        return f"{value[:_LONGEST_CELL]}… ({len(value):,} characters)"
    return value


def describe(sandbox: Sandbox, table: str | None) -> Result:
    """The tables and views, or one of them."""
    try:
        found = with_memory(lambda: _ask(sandbox, _OBJECTS))
    except FAILURES as error:
        return Result.failed(f"The schema cannot be read: {sandbox.why(error)}.")
    names = [name for kind, name, _, _ in found if kind in ("table", "view")]
    if table is not None:
        found = [each for each in found if each[2].lower() == table.lower()]
        if not found:
            return Result.failed(
                f"There is no table “{table}”. The tables are: {', '.join(names) or 'none'}."
            )
    shown: list[dict[str, Any]] = []
    size = 0
    for kind, name, _, sql in found:
        size += len(sql)
        if size > _LARGEST_SCHEMA and shown:
            continue
        entry: dict[str, Any] = {kind: name, "sql": sql}
        if kind == "table" and (count := _count(sandbox, name)) is not None:
            entry["rows"] = count
        shown.append(entry)
    value: dict[str, Any] = {"schema": shown}
    if len(shown) < len(found):
        value["note"] = (
            f"{len(found) - len(shown)} more are left out; ask for one table. All: {', '.join(names)}."
        )
    return Result.of(value)


_OBJECTS = (
    "SELECT m.type, m.name, m.tbl_name, m.sql FROM sqlite_master AS m "
    "LEFT JOIN pragma_table_list AS l ON l.name = m.tbl_name AND l.schema = 'main' "
    "WHERE m.sql IS NOT NULL AND m.name NOT LIKE 'sqlite|_%' ESCAPE '|' AND coalesce(l.type, '') <> 'shadow' "
    "ORDER BY CASE m.type WHEN 'table' THEN 0 WHEN 'view' THEN 1 ELSE 2 END, m.rowid"
)


def _ask(sandbox: Sandbox, sql: str) -> list[tuple[str, str, str, str]]:
    cursor = sandbox.execute(sql)
    try:
        return cursor.fetchall()
    finally:
        cursor.close()


def _count(sandbox: Sandbox, table: str) -> int | None:
    try:
        cursor = sandbox.execute(f"SELECT count(*) FROM {quote(table)}")
        try:
            return int(cursor.fetchone()[0])
        finally:
            cursor.close()
    except FAILURES:
        return None


__all__ = ["LARGEST_RESULT", "MOST_ROWS", "describe", "result_of", "tools"]
