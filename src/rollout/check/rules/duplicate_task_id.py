"""Two tasks have the same id.

An id is what a task is known by: runs are compared, resumed and regraded by it. With two tasks under one id the
results of one are taken for results of the other, and a resumed run skips the second as already done.
Give each task an id of its own, or leave the id out: it is then worked out from instruction and input.

Before:

    {"id": "refund-1", "instruction": "Refund order O-1.", "hidden_ground_truth": {"refunds": ["O-1"]}}
    {"id": "refund-1", "instruction": "Refund order O-2.", "hidden_ground_truth": {"refunds": ["O-2"]}}

After:

    {"id": "refund-1", "instruction": "Refund order O-1.", "hidden_ground_truth": {"refunds": ["O-1"]}}
    {"id": "refund-2", "instruction": "Refund order O-2.", "hidden_ground_truth": {"refunds": ["O-2"]}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.twins import Kept, asks_the_same, recall
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL301"
SEVERITY = Severity.ERROR


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None]:
    first: dict[str, Kept] = {}

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        name = record.value.get("id")
        if name is None:
            return None
        kept = record.index if record.line is not None else record
        origin = first.setdefault(name, kept)
        return None if origin is kept else _compare(subject, record, recall(subject.document, origin))

    return judge


def _compare(subject: Subject, record: TaskRecord, origin: TaskRecord | None) -> Iterable[Finding] | None:
    if origin is None or asks_the_same(origin.value, record.value):
        # A line that was copied whole is one defect, and duplicate-task or split-leak has it.
        return None
    return (
        Finding(
            ("tasks", record.index, "id"),
            f"Another task already has the id {quoted(str(record.value['id']))}.",
            "Give this task an id of its own, or leave the id out: it is then made from instruction and input.",
            see=((("tasks", origin.index, "id"), "the first task with this id"),),
        ),
    )
