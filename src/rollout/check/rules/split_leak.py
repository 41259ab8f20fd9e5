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
from rollout.check.twins import Seen, asks_the_same, question
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL303"
SEVERITY = Severity.ERROR


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None]:
    seen = Seen(subject.document)
    splits_of: dict[int, set[str]] = {}

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        value = record.value
        key = question(value)
        first = seen.earlier(key, record)
        if first is None or not asks_the_same(first.value, value):
            return None
        split = value.get("split", "dev")
        first_split = first.value.get("split", "dev")
        splits = splits_of.setdefault(key, {first_split})
        if split in splits:
            # Twice in one split is duplicate-task's to tell.
            return None
        splits.add(split)
        return (
            Finding(
                ("tasks", record.index, "split" if "split" in value else "instruction"),
                f"This task of the split “{split}” is in “{first_split}” too: {quoted(value['instruction'])}.",
                "Keep it in one split: what was trained on says nothing about new tasks.",
                see=((("tasks", first.index, "instruction"), f"the same task in “{first_split}”"),),
            ),
        )

    return judge
