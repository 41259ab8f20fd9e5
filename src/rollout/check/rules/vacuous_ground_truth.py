"""A task's ground truth that holds whatever the agent does.

Under `subset: true` the final state may hold more than the ground truth names, so an empty list holds for every list,
and an empty object for every object. Where a task names nothing else, no rollout of it can fail the primitive.

Before:

    # verifier: {name: refunded, type: ground_truth_match, subset: true}
    hidden_ground_truth: {refunds: []}

After:

    # verifier: {name: refunded, type: ground_truth_match}
    hidden_ground_truth: {refunds: []}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL521"
SEVERITY = Severity.ERROR


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    if not subject.is_sound("verifier"):
        return None
    loose = [
        each
        for each in subject.primitives
        if each.value.get("type") == "ground_truth_match"
        and each.value.get("subset") is True
        and each.value.get("not") is not True
    ]
    if not loose:
        return None
    name = quoted(str(loose[0].value.get("name")))

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        truth = record.value.get("hidden_ground_truth") or record.value.get("hiddenGroundTruth")
        if not truth or not isinstance(truth, dict) or any(value not in ([], {}) for value in truth.values()):
            return None
        first, value = next(iter(truth.items()))
        return [
            Finding(
                ("tasks", record.index, record.truth_key, first),
                f"No rollout of this task can fail {name}: with “subset”, every "
                f"{'list' if value == [] else 'object'} holds what an empty one holds.",
                "Name what has to be there, or take “subset” away, so that nothing else may be there.",
            )
        ]

    return judge
