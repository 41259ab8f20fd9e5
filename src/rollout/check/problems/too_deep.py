"""Objects and lists lie inside each other more than 100 deep.

No environment needs that, and it is what files look like that are made to crash their reader. Where data is that
deep (a linked list, a syntax tree), write it as a flat list of nodes that name each other.

Before:

    {"next": {"next": {"next": …}}}

After:

    {"nodes": [{"id": 1, "next": 2}, {"id": 2, "next": 3}]}
"""

from __future__ import annotations

from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL118"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    return (
        f"More than {problem.facts['max_depth']} objects and lists lie inside each other here.",
        "Check for brackets that are never closed; write deep data as a flat list whose members name each other.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
