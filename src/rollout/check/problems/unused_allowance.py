"""An allow comment that silences nothing.

The defect it spoke of is gone, or stands on another line. Left in place it would hide the next one that comes
to stand there. Remove the comment, or move it to the end of the line that is reported (or to a line of its own
just above it).
"""

from __future__ import annotations

from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL150"
SEVERITY = Severity.WARNING


def describe(problem: Problem) -> tuple[str, str | None]:
    return (
        f"Nothing on line {problem.facts['line']} needs “{problem.facts['slug']}” to be allowed.",
        "Remove the comment, or move it to the line that is reported.",
    )
