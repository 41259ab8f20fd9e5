"""A ground truth names a part of the state that there is not, and that no tool makes.

Each key of the ground truth is compared with the key of that name in the final state. One that is never there can never
match, so nobody can pass the task, however well it is done.

Before:

    initialMutableState: {refunds: []}
    tasks:
      - instruction: Refund order O-1.
        hidden_ground_truth: {refund: [{order_id: O-1}]}

After:

    initialMutableState: {refunds: []}
    tasks:
      - instruction: Refund order O-1.
        hidden_ground_truth: {refunds: [{order_id: O-1}]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rollout.check.finding import Finding
from rollout.check.known import keys_are_known, writes_are_known
from rollout.check.start import judged_by_state
from rollout.check.subject import Subject
from rollout.check.wording import closest, listed, quoted, suggestion
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL311"
SEVERITY = Severity.ERROR


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    if not judged_by_state(subject) or not keys_are_known(subject, "config", subject.state_key):
        return None
    if not writes_are_known(subject):
        return None
    known = set(subject.initial_state)
    for write in subject.writes:
        if not write.path.known:
            # The agent chooses the key.
            return None
        known.add(str(write.path.known[0]))

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        value = record.value
        truth = value.get("hidden_ground_truth") or value.get("hiddenGroundTruth") or {}
        for name in truth:
            if name not in known:
                break
        else:
            return None
        return [_finding(subject, record, name, known) for name in truth if name not in known]

    return judge


def _finding(subject: Subject, record: TaskRecord, name: str, known: set[str]) -> Finding:
    near = closest(name, sorted(known))
    if near is None and name.partition(".")[0].partition("[")[0] in known:
        hint = "A ground truth is not written in paths: nest the objects, or use state_match in the verifier."
    elif near is None and name in ("answer", "output", "finalOutput"):
        hint = (
            "What the agent says is judged by a primitive, such as answer_match; this one compares the state."
        )
    elif near is not None:
        hint = suggestion(near, name)
    else:
        hint = f"The state has {listed(sorted(known))}." if known else f"Declare it in {subject.state_key}."
    return Finding(
        ("tasks", record.index, record.truth_key, name),
        f"The ground truth names {quoted(name)}, which the state never has.",
        hint,
        at="key",
    )
