"""A path leads out of the environment's folder.

An environment is complete in its folder: it can be copied, reviewed and run elsewhere. So a path in it is relative,
has no `..`, and a symbolic link points to something inside the folder. What lies elsewhere is not read. Copy the file
into the folder.

Before:

    files:
      ../shared/money.py: "…"
      /etc/hosts: "…"

After:

    files:
      shared/money.py: "…"
      etc/hosts: "…"
"""

from __future__ import annotations

import re

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL133"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    if problem.facts["kind"] == "symlink":
        return (
            f"This is a symbolic link to {quoted(problem.facts['target'])}, outside the environment's folder.",
            "Put a copy in its place; a link may only point to something in the folder.",
        )
    if re.match(r"[A-Za-z]:(?![/\\])", problem.facts["path"]):
        return (
            f"The path {quoted(problem.facts['path'])} begins as a drive of Windows does, and leads elsewhere there.",
            "Give the file a name without a colon after its first letter.",
        )
    return (
        f"The path {quoted(problem.facts['path'])} leads out of the environment's folder.",
        "Write a path relative to the folder, without “..” and without a slash at its beginning.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
