"""A file or folder of the environment cannot be opened.

It is missing, it is not a regular file (a folder, a named pipe or a device stands where a file belongs), or its
permissions keep you from reading it. Nothing in that file could be checked, so the environment cannot be used.
Put the file where its name leads, or give yourself the right to read it (`chmod u+r config.yaml`).

Before:

    $ ls -F environments/refund
    config.yaml/  environment.yaml

After:

    $ ls -F environments/refund
    config.yaml  environment.yaml
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL101"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    name, reason = quoted(problem.span.path), problem.facts["reason"]
    if problem.facts.get("is_folder") and reason == "permission":
        return (
            f"You may not look into the folder {name}.",
            f"Give yourself the right to: chmod u+rx {problem.span.path}",
        )
    if problem.facts.get("is_folder"):
        return f"The folder {name} cannot be read: {reason}.", None
    if reason == "missing":
        return f"There is no file {name}.", "Create it, or correct the path that names it."
    if reason == "permission":
        return f"You may not read {name}.", f"Give yourself the right to: chmod u+r {problem.span.path}"
    if reason == "not-a-file":
        kind = problem.facts.get("kind", "folder")
        return f"{name} is a {kind}; a file is expected here.", "Put a regular file in its place."
    return f"{name} cannot be read: {reason}.", None


__all__ = ["CODE", "SEVERITY", "describe"]
