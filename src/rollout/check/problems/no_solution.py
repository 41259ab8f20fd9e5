"""A task has no solution, so nothing shows that it can be solved.

`rollout prove` needs the tool calls that solve a task. It works them out itself only where they are certain: when the
ground truth is lists of the state that have grown, and each new item fits exactly one tool that does no more than add
to that list. Everywhere else the author writes them down, once, as `solution`. It stays on this machine.

Before:

    {"instruction": "Refund order O-1.", "hidden_ground_truth": {"orders": {"O-1": {"status": "refunded"}}}}

After:

    {"instruction": "Refund order O-1.", "hidden_ground_truth": {"orders": {"O-1": {"status": "refunded"}}},
     "solution": [{"tool": "refund", "args": {"order_id": "O-1"}}, {"answer": "Done."}]}
"""

from __future__ import annotations

from rollout.check.wording import quoted, sketch
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL604"
SEVERITY = Severity.ERROR

_SOLUTION = '"solution": [{"tool": "…", "args": {…}}, {"answer": "…"}]'


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    why = (
        "none follows from its ground truth for certain"
        if facts["has_ground_truth"]
        else "there is no ground truth to work one out from"
    )
    return (
        f"{quoted(facts['task'])} has no solution, and {why}.",
        f"Write down the calls that solve it, as “{sketch(_SOLUTION, problem.span.path)}”.",
    )
