"""An object has the same key twice.

Readers differ in which of the two they take, so what one person reviews is not what another runs. Delete one of
them, or merge the two. In YAML this happens most easily when a block is pasted below another.

Before:

    passThreshold: 0.5
    primitives: []
    passThreshold: 1.0

After:

    passThreshold: 1.0
    primitives: []
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL109"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    first = problem.facts["first"]
    where = (
        f"on line {first.line}"
        if first.line != problem.span.line
        else f"in column {first.column} of this line"
    )
    if header := problem.facts.get("header"):
        return (
            f"The table {header} begins twice; it stands {where} already.",
            f"Keep one of the two; where these are members of a list, write [{header}] over each.",
        )
    return (
        f"The key {quoted(problem.facts['key'])} is given twice in this object; it stands {where} already.",
        "Keep one of the two.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
