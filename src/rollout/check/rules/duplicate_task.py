"""Two tasks of one split ask the same: instruction and input are equal.

The task counts twice in every rate, and a model that fails it is charged twice. When the two have different ground
truths, one of them can never be passed. Without ids the two cannot even be told apart: an id is worked out from
instruction and input. Keep one; to weigh a task more, run it more often. To ask the same of different data, put
what differs into `input`.

Before:

    {"instruction": "Refund order O-1.", "hidden_ground_truth": {"refunds": ["O-1"]}}
    {"instruction": "Refund order O-1.", "hidden_ground_truth": {"refunds": ["O-1"]}}

After:

    {"instruction": "Refund order O-1.", "hidden_ground_truth": {"refunds": ["O-1"]}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.compare import compare
from rollout.source.document import TaskRecord

CODE = "RL302"
SEVERITY = Severity.ERROR


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None]:
    twins = subject.twins

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        twin = twins.of(record)
        if twin is None or not twin.same_split:
            return None
        contradicts = compare(twin.record.ground_truth, record.ground_truth) is not None
        return (
            Finding(
                ("tasks", record.index, "instruction"),
                f"This task asks the same as an earlier one of the split {quoted(twin.split)}"
                f"{', but has another ground truth' if contradicts else ''}: {quoted(record.value['instruction'])}.",
                "Remove one of the two, or put what tells them apart into instruction or input.",
                see=((("tasks", twin.record.index, "instruction"), "the earlier task"),),
            ),
        )

    return judge
