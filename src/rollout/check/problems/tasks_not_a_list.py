"""The tasks are no list.

`tasks` is a list of objects, also when there is only one, and so is what `tasks.yaml` holds.

Before:

    tasks:
      instruction: Refund order O-1.

After:

    tasks:
      - instruction: Refund order O-1.
"""

from __future__ import annotations

from rollout.check.headers import written_header
from rollout.check.values import described
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL124"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    header = written_header(problem.span)
    return (
        f"The tasks are {described(problem.facts['value'])}; a list is expected.",
        f"Write [{header}] over each task." if header else "Write each task as a member: “- instruction: …”",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
