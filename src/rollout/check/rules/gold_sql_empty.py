"""A gold query comes to no rows, or to nothing but NULL.

A right answer that is empty is most often a query that asks for something that is not in the seed. An agent that
submits nothing at all could match it. A sum or an average of nothing is a row too, of NULL. Mend the query or the seed;
where nothing is the right answer, say so with `expectEmpty: true` on the `sql_result` primitive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rollout.check.finding import Finding
from rollout.check.gold import Gold, judge_of_task, judge_of_verifier
from rollout.check.subject import Subject
from rollout.database.golds import evaluate
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL352"
SEVERITY = Severity.WARNING


def check(subject: Subject) -> Iterator[Finding]:
    yield from judge_of_verifier(subject, _judge)


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    return judge_of_task(subject, _judge)


def _judge(subject: Subject, gold: Gold) -> Iterator[Finding]:
    assert subject.database is not None
    if gold.may_be_empty:
        return
    answer = evaluate(subject.database, gold.query)
    if answer.failed is None and answer.answers and all(each is None for row in answer.rows for each in row):
        yield Finding(
            gold.route,
            f"This gold query comes to {'nothing but NULL' if answer.rows else 'no rows'}.",
            "Mend the query or the seed, or say expectEmpty: true where nothing is the right answer.",
        )
