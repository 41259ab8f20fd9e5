"""The solution of a task leaves another state than its ground truth, and the verifier does not see it.

`rollout prove` plays a task's `solution` and holds what it leaves against the `hidden_ground_truth`, also where no
primitive does. Where the ground truth names a part of the state, and that is not as the solution leaves it, one of the
two is wrong, and an agent that does what the ground truth says is trained away from it, or towards nothing. Mend the
solution or the ground truth, and have a primitive look at it. A part that a primitive reads by its `groundTruth`, or
that a function of yours may read, is left to them.

Before, with the `hidden_ground_truth` `{"refunds": [{"order_id": "O-1", "amount": 100}]}`:

    "solution": [{"tool": "get_order", "args": {"order_id": "O-1"}}]

After:

    "solution": [{"tool": "refund", "args": {"order_id": "O-1", "amount": 100}}]
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL609"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    unseen = (
        f"The solution of {quoted(facts['task'])} does not reach its ground truth, and no primitive sees it."
    )
    return (
        f"{unseen} {facts['difference']}",
        "Mend the solution or the ground truth, and add a primitive that compares them: “ground_truth_match”.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
