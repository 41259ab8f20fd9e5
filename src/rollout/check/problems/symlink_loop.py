"""A symbolic link leads back to a folder that it lies in.

Whoever follows it walks in a circle, so it is not followed, and what was meant to be there is missing. Delete the
link, or put a copy in its place.

Before:

    $ ls -l environments/fix-parser/files
    src/  self -> .

After:

    $ ls -l environments/fix-parser/files
    src/
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL138"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    return (
        f"This symbolic link leads back to {quoted(problem.facts['target'])}, a folder that it lies in.",
        "Delete the link, or put a copy in its place.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
