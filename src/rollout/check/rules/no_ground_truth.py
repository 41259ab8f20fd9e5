"""A task has no ground truth, and the verifier needs one.

Without a verifier the final state is compared with `hidden_ground_truth`, and some primitives read it too. A task
without it can only end in an error, never in a pass. Say what the task must come to; `{}` says as little as nothing.
A task that is judged some other way needs a verifier of primitives that do not read the ground truth.

Before:

    {"instruction": "Refund order O-1 for $100."}

After:

    {"instruction": "Refund order O-1 for $100.", "hidden_ground_truth": {"refunds": [{"id": "O-1", "amount": 100}]}}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rollout.check.finding import Finding
from rollout.check.grading import ground_truth_path
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.contract import schema
from rollout.source.document import TaskRecord

CODE = "RL305"
SEVERITY = Severity.ERROR


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    needed_by = _needed_by(subject)
    if needed_by is None:
        return None
    keys = schema("task")["properties"].keys()

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        value = record.value
        if value.get("hidden_ground_truth") or value.get("hiddenGroundTruth"):
            return None
        if any(key not in keys and not key.startswith("x-") for key in value):
            # One of the keys is misspelt, which unknown-key tells, and it may be this one.
            return None
        given = record.truth_key in value
        return (
            Finding(
                ("tasks", record.index, record.truth_key),
                f"The task {'has an empty' if given else 'has no'} ground truth, and {needed_by}.",
                "Add “hidden_ground_truth”: what the task must come to.",
                at="key",
            ),
        )

    return judge


def _needed_by(subject: Subject) -> str | None:
    if subject.document.value.get("verifier") is None:
        return "there is no verifier to judge it by anything else"
    if not subject.is_sound("verifier"):
        return None
    for primitive in subject.primitives:
        if ground_truth_path(primitive) is not None:
            return f"the primitive {quoted(str(primitive.value.get('name')))} compares with it"
    return None
