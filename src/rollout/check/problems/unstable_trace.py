"""The same calls do not lead to the same trace.

`rollout prove` plays every task twice. When the two traces differ, something carries over from one rollout to the
next, or depends on the time or on chance, and no two runs of this environment can be compared.
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL603"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    return (
        f"Two rollouts of {quoted(facts['task'])} with {facts['model']} did not leave the same trace.",
        "Take out what depends on time, on chance or on an earlier rollout.",
    )
