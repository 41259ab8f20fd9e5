"""A solution goes on after its answer.

The answer ends a rollout: whatever stands after it is never played, so the oracle proves less than the solution says.
Put the answer at the end, and give one only.

Before:

    "solution": [{"answer": "Refunded."}, {"tool": "refund", "args": {"order_id": "O-1", "amount": 100}}]

After:

    "solution": [{"tool": "refund", "args": {"order_id": "O-1", "amount": 100}}, {"answer": "Refunded."}]
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rollout.check.finding import Finding
from rollout.check.solution_screen import may_hold_solution
from rollout.check.subject import Subject
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL310"
SEVERITY = Severity.ERROR


screen = may_hold_solution


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None]:
    return judge


def judge(record: TaskRecord) -> Iterable[Finding] | None:
    steps = record.value.get("solution")
    if not steps:
        return None
    for index in range(len(steps) - 1):
        if "answer" in steps[index]:
            another = any("answer" in step for step in steps[index + 1 :])
            return (
                Finding(
                    ("tasks", record.index, "solution", index, "answer"),
                    "The solution goes on after its answer, which ends the rollout.",
                    "Keep one answer, at the end." if another else "Move the answer to the end.",
                    at="key",
                    see=((("tasks", record.index, "solution", index + 1), "this step is never played"),),
                ),
            )
    return None
