"""A YAML alias repeats the very value that it is part of.

Such a value has no end, and JSON cannot hold it. Write out what is meant, as deep as it is needed.

Before:

    node: &node
      name: root
      next: *node

After:

    node:
      name: root
      next: {name: leaf}
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL115"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    name = problem.facts["name"]
    return (
        f"The alias {quoted('*' + name)} stands inside the value that it repeats, which would never end.",
        "Write out what is meant here.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
