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

from rollout.check.values import described
from rollout.check.wording import sketch
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL123"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    value = problem.facts["value"]
    example = sketch('{"instruction": "…"}', problem.span.path)
    hint = f"Write an object with at least an instruction: {example}"
    if problem.facts.get("line") and isinstance(value, list):
        hint = "Write one object a line, without a list around them."
    return f"This task is {described(value)}; a task is an object.", hint


__all__ = ["CODE", "SEVERITY", "describe"]
