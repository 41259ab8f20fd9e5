"""YAML aliases repeat so much that the file becomes enormous.

Each alias stands for a copy of what its anchor names; aliases of values that hold aliases multiply, and a file of
a few lines can stand for billions of values. All aliases of a file together may stand for 100,000 values.
Write the data into a fixture or into `tasks.jsonl`, or repeat less.

Before:

    a: &a [x, x, x, x, x, x, x, x, x, x]
    b: &b [*a, *a, *a, *a, *a, *a, *a, *a, *a, *a]
    c: &c [*b, *b, *b, *b, *b, *b, *b, *b, *b, *b]

After:

    a: [x, x, x, x, x, x, x, x, x, x]
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL116"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    name, limit = problem.facts["name"], problem.facts["limit"]
    return (
        f"With the alias {quoted('*' + name)} here, the aliases of this file stand for more than {limit:,} values.",
        "Repeat less, or write the data into a file of its own.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
