"""The solution of a task does not reach the top score.

`rollout prove` plays a task's `solution` and judges what it leaves, as it would judge an agent. When even that does not
reach 1.0, no agent can do better, and every rollout of the task counts a good agent down. Either the solution is wrong
(a tool call that fails, a wrong amount), or the ground truth is, or the verifier asks for something that the task
does not. `rollout test PATH --task ID --model oracle` shows every call and every reason.

Before, with the `hidden_ground_truth` `{"refunds": [{"order_id": "O-1", "amount": 100}]}`:

    "solution": [{"tool": "refund", "args": {"order_id": "O-1", "amount": 10}}]

After:

    "solution": [{"tool": "refund", "args": {"order_id": "O-1", "amount": 100}}]
"""

from __future__ import annotations

from rollout.check.wording import quoted, score
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL601"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    whose = "The solution of" if facts["is_written"] else "The solution that was worked out for"
    short = [
        f"{name} ({reason})" for name, value, reason in facts["marks"] if value is not None and value < 1
    ]
    reached = f"{whose} {quoted(facts['task'])} reaches a score of {score(facts['score'])}, not 1."
    return f"{reached} It falls short in {'; '.join(short)}", _way_out(facts["errors"], facts["is_written"])


def _way_out(errors: list[str], is_written: bool) -> str:
    if not is_written:
        return (
            "It adds what the ground truth asks for, and no more. "
            "Where more is needed, add a “solution” to the task."
        )
    if errors:
        return f"Mend the call that fails first, {errors[0]}"
    return "Mend the solution, or the ground truth or the verifier where they ask for something else."


__all__ = ["CODE", "SEVERITY", "describe"]
