"""A task is no object.

A task is an object with at least an `instruction`: one JSON object a line in `tasks.jsonl`, one member of the list
in `tasks.yaml` or under `tasks:`.

Before:

    tasks:
      - Refund order O-1.

After:

    tasks:
      - instruction: Refund order O-1.
"""

from __future__ import annotations

from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL123"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    kind = problem.facts["type"]
    hint = 'Write an object with at least an instruction: {"instruction": "…"}'
    if problem.facts.get("line") and kind == "a list":
        hint = "Write one object a line, without a list around them."
    return f"This task is {kind}; a task is an object.", hint
