"""A gold query with a LIMIT that takes some of several rows that are as good as each other.

“Who earns the most?” has two right answers where two people earn the same, and `ORDER BY pay DESC LIMIT 1` takes
one of them by chance. An agent that names the other is told that it is wrong. Mend the seed so that there is no
tie, say in the instruction and in the ORDER BY what decides one, or write all right answers as a list of queries,
of which one must agree.

Before:

    SELECT name FROM staff ORDER BY pay DESC LIMIT 1

After, with “of those the first by name” in the instruction:

    SELECT name FROM staff ORDER BY pay DESC, name LIMIT 1
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rollout.check.finding import Finding
from rollout.check.gold import Gold, judge_of_task, judge_of_verifier
from rollout.check.subject import Subject
from rollout.database.cuts import left_out_by_chance
from rollout.database.golds import evaluate
from rollout.diagnostics import Severity
from rollout.language.compare import show
from rollout.source.document import TaskRecord

CODE = "RL356"
SEVERITY = Severity.WARNING


def check(subject: Subject) -> Iterator[Finding]:
    yield from judge_of_verifier(subject, _judge)


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    return judge_of_task(subject, _judge)


def _judge(subject: Subject, gold: Gold) -> Iterator[Finding]:
    assert subject.database is not None
    if "LIMIT" not in gold.query.upper():
        return
    row = left_out_by_chance(subject.database, gold.query)
    if row is not None and all(row not in evaluate(subject.database, other).rows for other in gold.others):
        yield Finding(
            gold.route,
            f"This gold query leaves out {show(list(row))}, which is as good as a row that it takes.",
            "Say what decides a tie, in ORDER BY and in the instruction, or write each right answer as a gold.",
        )


__all__ = ["CODE", "SEVERITY", "check", "check_tasks"]
