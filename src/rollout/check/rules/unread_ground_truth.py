"""A part of the ground truth that no primitive looks at.

The verifier has primitives, but none of them reads this part of `hidden_ground_truth`. It looks as if rollouts were
held to it, and they are not: an agent passes whatever it did there. Add a primitive that reads it, such as
`ground_truth_match` for the final state, or take it out.

Before:

    primitives:
      - {name: no_errors, type: no_tool_errors}

After:

    primitives:
      - {name: refunded, type: ground_truth_match, weight: 2}
      - {name: no_errors, type: no_tool_errors}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from rollout.check.finding import Finding
from rollout.check.grading import also_reads, ground_truth_path, is_foreign, judging, parsed
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL519"
SEVERITY = Severity.WARNING

_READS_ALL = ("llm_judge", "python")
_MAY_READ = {"command_passes": "tests"}
"""Primitives that read a key of the ground truth where there is one."""


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    if not judging(subject) or not subject.is_sound("verifier"):
        return None
    if any(is_foreign(subject, each) for each in judging(subject)):
        return None  # the one that fits this template would read it
    read: set[str | int] = set()
    may_read = {_MAY_READ[kind] for each in judging(subject) if (kind := each.text("type")) in _MAY_READ}
    for primitive in judging(subject):
        may_read.update(also_reads().get(primitive.text("type") or "", ()))
        written = ground_truth_path(primitive, subject.template)
        if written == "" or primitive.value.get("type") in _READS_ALL:
            return None
        if written is not None and (path := parsed(written)) is not None:
            read.add(path.steps[0])
    told: set[str] = set()

    def judge(record: TaskRecord) -> Iterator[Finding]:
        truth = record.ground_truth
        if not isinstance(truth, dict) or truth.keys() <= read | may_read | told:
            return
        if not read <= truth.keys():
            return  # a key that is looked for is missing, and this may be it, misspelt
        key = "hidden_ground_truth" if "hidden_ground_truth" in record.value else "hiddenGroundTruth"
        for name in truth:
            if name not in read | may_read | told:
                told.add(name)
                yield Finding(
                    ("tasks", record.index, key, name),
                    f"No primitive looks at {quoted(name)} of the ground truth, here or in other tasks.",
                    "Add a primitive that reads it, such as ground_truth_match, or take it out.",
                    at="key",
                )

    return judge
