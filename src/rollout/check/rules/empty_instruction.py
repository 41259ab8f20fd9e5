"""A task's instruction is empty, or nothing but white space and characters that show nothing.

The agent is told nothing, so whatever it does is chance, and the task only lowers every rate. Say what is to be
done; data the task is about goes into `input`.

Before:

    {"instruction": " ", "input": {"order": "O-1"}, "hidden_ground_truth": {"refunds": ["O-1"]}}

After:

    {"instruction": "Refund this order.", "input": {"order": "O-1"}, "hidden_ground_truth": {"refunds": ["O-1"]}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rollout.check.blank import is_blank
from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL304"
SEVERITY = Severity.ERROR


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None]:
    return judge


def judge(record: TaskRecord) -> Iterable[Finding] | None:
    instruction = record.value["instruction"]
    if not is_blank(instruction):
        return None
    seen = "empty" if not instruction.strip() else "made of characters that show nothing"
    return (
        Finding(
            ("tasks", record.index, "instruction"),
            f"The task's instruction is {seen}.",
            "Say what the agent is to do; the data it is about can stand in “input”.",
        ),
    )
