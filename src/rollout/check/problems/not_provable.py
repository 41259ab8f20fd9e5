"""The environment cannot be proved here at all.

Nothing was run: the environment has no tasks, its template has no world on this machine yet, or its config cannot be
turned into a world. What has not been proved counts as not proved, and `rollout prove` exits with 1.
"""

from __future__ import annotations

from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL605"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    return f"The environment cannot be proved here. {problem.facts['why']}", None
