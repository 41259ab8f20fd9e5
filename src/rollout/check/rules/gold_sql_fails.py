"""A gold query does not run on the environment's own database.

The query that says what the right answer is fails: a table or a column is misspelt, or it is no single statement.
A word in double quotes that is no column fails too, although SQLite would take it for a text: texts stand in single
quotes.
Every rollout of the task would end in an error that is charged to the verifier. Run the query on the database that
schema and seed make, and mend it.

Before:

    {"instruction": "How many orders are open?", "hidden_ground_truth": {"query": "SELECT count(*) FROM order"}}

After:

    {"instruction": "How many orders are open?", "hidden_ground_truth": {"query": "SELECT count(*) FROM orders"}}
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator

from rollout.check.finding import Finding
from rollout.check.gold import Gold, judge_of_task, judge_of_verifier
from rollout.check.misread import columns_of, instead_of
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean
from rollout.database.golds import evaluate
from rollout.database.quoting import misread_word
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL351"
SEVERITY = Severity.ERROR

_QUERY = re.compile(r"\s*(?:SELECT|WITH|VALUES|INSERT|UPDATE|DELETE)\b", re.IGNORECASE)


def check(subject: Subject) -> Iterator[Finding]:
    yield from judge_of_verifier(subject, _judge)


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    return judge_of_task(subject, _judge)


def _judge(subject: Subject, gold: Gold) -> Iterator[Finding]:
    assert subject.database is not None
    answer = evaluate(subject.database, gold.query)
    if answer.failed is not None:
        yield Finding(
            gold.route,
            f"This gold query does not run: {answer.failed}.",
            _as_row(gold) or _hint(subject, answer.failed),
        )


def _as_row(gold: Gold) -> str | None:
    """How a text that is no query is written as a row."""
    if not {"rows", "answer"} & set(gold.route) or _QUERY.match(gold.query):
        return None
    return (
        f"Texts alone are taken for queries; write rows: [[{json.dumps(gold.query, ensure_ascii=False)}], …]."
    )


def _hint(subject: Subject, reason: str) -> str | None:
    assert subject.database is not None
    tables = subject.database.tables()
    if reason.startswith("no such table: "):
        return did_you_mean(reason.removeprefix("no such table: "), tuple(tables), kind="tables")
    if (word := misread_word(reason)) is not None:
        return instead_of(word, tables)
    if reason.startswith("no such column: "):
        return did_you_mean(
            reason.removeprefix("no such column: ").rpartition(".")[2], columns_of(tables), kind="columns"
        )
    return "Run it on the database that schema and seed make."
