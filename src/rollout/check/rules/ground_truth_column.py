"""A ground truth's rows name a column that the database does not have.

Rows given as objects are compared by column name. A name that no table and no gold query of the task knows can
never match, so that every rollout of the task would fail.

Before:

    {"hidden_ground_truth": {"rows": [{"custmer": "Alice", "total": 100}]}}

After:

    {"hidden_ground_truth": {"rows": [{"customer": "Alice", "total": 100}]}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rollout.check.finding import Finding
from rollout.check.gold import golds_of_task
from rollout.check.subject import Subject
from rollout.check.wording import closest, quoted, suggestion
from rollout.database.golds import evaluate
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL354"
SEVERITY = Severity.ERROR


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    database = subject.database
    if database is None or database.failures:
        return None
    golds = golds_of_task(subject)
    known = {column for columns in database.tables().values() for column in columns}

    def judge(record: TaskRecord) -> Iterator[Finding]:
        truth = record.ground_truth
        rows = truth.get("rows") if isinstance(truth, dict) else None
        if not isinstance(rows, list):
            return
        answers = [evaluate(database, gold.query) for gold in golds(record)]
        if any(answer.failed is not None for answer in answers):
            return
        columns = {name for answer in answers for name in answer.columns} if answers else known
        told: set[str] = set()
        for index, row in enumerate(rows):
            for name in row if isinstance(row, dict) else ():
                if name in columns or name in told:
                    continue
                told.add(name)
                near = closest(name, sorted(columns))
                if near is None and not answers:
                    continue  # it may be the alias of a sum or a count
                yield Finding(
                    ("tasks", record.index, *truth_route(record), "rows", index, name),
                    f"The ground truth names a column {quoted(name)} that "
                    f"{'the gold query does not come to' if answers else 'no table has'}.",
                    suggestion(near, name) if near else f"Its columns are {', '.join(sorted(columns))}.",
                    at="key",
                )

    return judge


def truth_route(record: TaskRecord) -> tuple[str]:
    return ("hidden_ground_truth" if "hidden_ground_truth" in record.value else "hiddenGroundTruth",)
