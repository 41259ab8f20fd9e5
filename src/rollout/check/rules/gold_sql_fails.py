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
from collections.abc import Callable, Iterable, Iterator

from rollout.check.finding import Finding
from rollout.check.gold import Gold, judge_of_task, judge_of_verifier
from rollout.check.sql_ways_out import is_query, way_out
from rollout.check.subject import Subject
from rollout.database.gold_faults import fault_in_gold
from rollout.database.golds import evaluate
from rollout.diagnostics import Severity, Span
from rollout.source.document import TaskRecord
from rollout.source.inside import span_inside

CODE = "RL351"
SEVERITY = Severity.ERROR

_WAY_OUT = "It is run by SQLite on the database that schema and seed make; write it in SQLite's dialect."


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
            _as_row(gold) or way_out(answer.failed, subject.database.tables(), is_built=True) or _WAY_OUT,
            span=_span(subject, gold, answer.failed),
        )


def _as_row(gold: Gold) -> str | None:
    """How a text that is no query is written as a row."""
    if not {"rows", "answer"} & set(gold.route) or is_query(gold.query):
        return None
    return (
        f"Texts alone are taken for queries; write rows: [[{json.dumps(gold.query, ensure_ascii=False)}], …]."
    )


def _span(subject: Subject, gold: Gold, reason: str) -> Span | None:
    """Where in the query the fault is; None where that is not known, and the query is the place."""
    assert subject.database is not None
    found = fault_in_gold(subject.database, gold.query, reason)
    place = subject.document.place_of(gold.route) if found is not None else None
    return span_inside(place, gold.query, *found) if place is not None and found is not None else None
