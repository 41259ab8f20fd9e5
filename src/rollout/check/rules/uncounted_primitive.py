"""A primitive with weight 0 is reported, but does not count.

A rollout passes without it. That is right for a check that is only watched for a while; then allow the line and say
so. Otherwise give it a weight.

Before:

    - {name: no failed calls, type: no_tool_errors, weight: 0}

After:

    - {name: no failed calls, type: no_tool_errors, weight: 0}  # rollout: allow uncounted-primitive — watched in May
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity

CODE = "RL513"
SEVERITY = Severity.WARNING


def check(subject: Subject) -> Iterator[Finding]:
    uncounted = [primitive for primitive in subject.primitives if primitive.value.get("weight", 1) == 0]
    if len(uncounted) == len(subject.primitives):
        return  # then nothing counts at all, which is another defect
    for primitive in uncounted:
        yield Finding(
            (*primitive.route, "weight"),
            f"{quoted(str(primitive.value.get('name')))} does not count: its weight is 0.",
            "Give it a weight above 0, or say why not behind it: # rollout: allow uncounted-primitive — the reason",
        )
