"""So many lines of a task file are broken that the rest of it was not read.

After 100 lines that are no JSON objects the reading of a file stops: it most likely is no JSONL at all, but one
JSON document over several lines, CSV, or another format. A task file has one JSON object on each line. A list that
runs over several lines is rewritten with `jq -c '.[]' list.json > tasks.jsonl`.

Before:

    [
      {
        "instruction": "Refund order O-1."
      }
    ]

After:

    {"instruction": "Refund order O-1."}
"""

from __future__ import annotations

from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL125"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    message = (
        f"This is broken line {problem.facts['broken']:,} of the file; what comes after it was not read."
    )
    if problem.span.path.endswith(".csv"):
        return message, "Look whether the first row names the columns, and whether commas part them."
    return (
        message,
        "A .jsonl file has one JSON object on each line. A list over several lines becomes one with: jq -c '.[]'",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
