"""An agent that does nothing passes a task.

`rollout prove` also runs every task with `noop`, which says nothing and calls no tool. A task that it passes tells
nothing about an agent, and it teaches one to do nothing when its rollouts are trained on. The usual causes: the
ground truth already holds at the start; the verifier only checks what an agent must not do (`no_tool_errors` alone);
a negated primitive that is true of an empty rollout.

Before:

    primitives:
      - {name: clean, type: no_tool_errors}

After:

    primitives:
      - {name: clean, type: no_tool_errors}
      - {name: refunded, type: ground_truth_match}
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL602"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    reasons = "; ".join(f"{name} ({reason})" for name, value, reason in facts["marks"] if value)
    return (
        f"An agent that does nothing passes {quoted(facts['task'])}: {reasons}",
        "Let the ground truth or the verifier ask for something that is not so at the start.",
    )
