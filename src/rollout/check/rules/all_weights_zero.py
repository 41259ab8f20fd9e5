"""Every primitive of the verifier has weight 0.

The score is a weighted mean, and there is nothing to weigh: no rollout would have a score. Give at least one
primitive a weight above 0.

Before:

    primitives:
      - {name: refunded, type: ground_truth_match, weight: 0}

After:

    primitives:
      - {name: refunded, type: ground_truth_match, weight: 1}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.diagnostics import Severity

CODE = "RL512"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    primitives = subject.primitives
    if primitives and all(primitive.value.get("weight", 1) == 0 for primitive in primitives):
        yield Finding(
            (*primitives[0].route, "weight"),
            "All primitives have weight 0, so no rollout has a score.",
            "Give at least one of them a weight above 0.",
        )
