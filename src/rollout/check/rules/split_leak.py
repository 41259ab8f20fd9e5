"""The same task stands in two splits: instruction and input are equal, the split is not.

A model trained on the one has seen the other, so the score on `test` no longer says how it does on new tasks.
Keep the task in one split only.

Before:

    {"instruction": "Refund order O-1.", "split": "train", "hidden_ground_truth": {"refunds": ["O-1"]}}
    {"instruction": "Refund order O-1.", "split": "test", "hidden_ground_truth": {"refunds": ["O-1"]}}

After:

    {"instruction": "Refund order O-1.", "split": "train", "hidden_ground_truth": {"refunds": ["O-1"]}}
    {"instruction": "Refund order O-7.", "split": "test", "hidden_ground_truth": {"refunds": ["O-7"]}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.twins import split_of
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL303"
SEVERITY = Severity.ERROR


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None]:
    twins = subject.twins

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        twin = twins.of(record)
        if twin is None or twin.same_split:
            return None
        value = record.value
        return (
            Finding(
                ("tasks", record.index, "split" if "split" in value else "instruction"),
                f"This task of the split {quoted(split_of(record))} is in {quoted(twin.split)} too: "
                f"{quoted(value['instruction'])}.",
                "Keep it in one split: what was trained on says nothing about new tasks.",
                see=(
                    (("tasks", twin.record.index, "instruction"), f"the same task in {quoted(twin.split)}"),
                ),
            ),
        )

    return judge
