"""A file, or one line of a task file, is too large to be read as a whole.

Files are held in memory, with the place of every value, so they may have 64 MB. Only task files (`tasks.jsonl`,
`tasks/*.jsonl`) are streamed and may be of any size; a single line of theirs may have 16 MB.
Move a long list of tasks from `tasks.yaml` into `tasks.jsonl`, split long fixtures into one file each under
`fixtures/`, and leave out what no task needs.

Before:

    environments/refund/tasks.yaml       180 MB

After:

    environments/refund/tasks.jsonl      150 MB
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL102"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    limit = f"{problem.facts['max_bytes'] // (1024 * 1024):,} MB"
    if problem.facts.get("what") == "line":
        return (
            f"This line has more than {limit}, which is the most that a task may have.",
            "Move what is large and shared out of the task: into a fixture, a file or the start state.",
        )
    return (
        f"{quoted(problem.span.path)} has more than {limit}, which is the most that is read as a whole.",
        "Long lists of tasks belong in tasks.jsonl, which may be of any size; split the rest into several files.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
