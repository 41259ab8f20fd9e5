"""The solution of a task does not reach the top score.

`rollout prove` plays a task's `solution` and judges what it leaves, as it would judge an agent. When even that does not
reach 1.0, no agent can do better, and every rollout of the task counts a good agent down. Either the solution is wrong
(a tool call that fails, a wrong amount), or the ground truth is, or the verifier asks for something that the task
does not. `rollout test PATH --task ID --model oracle` shows every call and every reason. Of a command such as the
tests, the last error that it printed is told: tests that cannot be loaded fail every solution.

Before, with the `hidden_ground_truth` `{"refunds": [{"order_id": "O-1", "amount": 100}]}`:

    "solution": [{"tool": "refund", "args": {"order_id": "O-1", "amount": 10}}]

After:

    "solution": [{"tool": "refund", "args": {"order_id": "O-1", "amount": 100}}]
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

from rollout.check.wording import quoted, score
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL601"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    whose = "The solution of" if facts["is_written"] else "The solution that was worked out for"
    short = [
        f"{name} ({reason}{_printed(facts['printed'].get(name))})"
        for name, value, reason in facts["marks"]
        if value is not None and value < 1
    ]
    reached = f"{whose} {quoted(facts['task'])} reaches a score of {score(facts['score'])}, not 1."
    return f"{reached} It falls short in {'; '.join(short)}", _way_out(facts)


def _printed(line: str | None) -> str:
    return f" It printed {quoted(line, 200)}." if line else ""


def _way_out(facts: Mapping[str, Any]) -> str:
    errors: list[str] = facts["errors"]
    if not facts["is_written"]:
        return (
            "It adds what the ground truth asks for, and no more. "
            "Where more is needed, add a “solution” to the task."
        )
    if facts["against_errors"] is not None:
        way_out = f"or take the primitive {quoted(facts['against_errors'])} out, where a call may fail"
        return f"Mend the call that fails first, {way_out}. It is {errors[0]}"
    if any(name in facts["printed"] for name, value, _ in facts["marks"] if value is not None and value < 1):
        shown = (
            f"rollout test {shlex.quote(facts['label'])} --model oracle --task {shlex.quote(facts['task'])}"
        )
        return (
            f"Mend the solution, or the tests where they are wrong; “{shown}” shows what the command printed."
        )
    way_out = "Mend the solution, or the ground truth or the verifier where they ask for something else."
    return f"{way_out} The first call that failed is {errors[0]}" if errors else way_out


__all__ = ["CODE", "SEVERITY", "describe"]
