"""A task gives its ground truth twice, as `hidden_ground_truth` and as `hiddenGroundTruth`.

The two spellings mean one thing, so one of the two values would be dropped without a word, and the task would be
graded against the other. Keep one; `hidden_ground_truth` is the published spelling in task files.

Before:

    {"instruction": "Refund O-1.", "hidden_ground_truth": {"refunds": ["O-1"]}, "hiddenGroundTruth": {"refunds": []}}

After:

    {"instruction": "Refund O-1.", "hidden_ground_truth": {"refunds": ["O-1"]}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL306"
SEVERITY = Severity.ERROR


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None]:
    return judge


def judge(record: TaskRecord) -> Iterable[Finding] | None:
    value = record.value
    if "hiddenGroundTruth" not in value or "hidden_ground_truth" not in value:
        return None
    return (
        Finding(
            ("tasks", record.index, "hiddenGroundTruth"),
            "The task gives its ground truth twice, as “hidden_ground_truth” and as “hiddenGroundTruth”.",
            "Keep “hidden_ground_truth”, and remove the other.",
            at="key",
            see=((("tasks", record.index, "hidden_ground_truth"), "the other one"),),
        ),
    )
