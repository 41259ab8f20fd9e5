"""A compiled file stands where an environment is expected.

`rollout compile` writes the JSON that the platform takes, with `environment` and `verifier` at its top. It is made from
an environment's files and is no place to edit one: it has neither comments nor ids nor solutions. `rollout unpack`
turns it back into a folder, which compiles to the same bytes. `rollout diff` reads compiled files as they are.

Before:

    {"environment": {"slug": "refund", "name": "Refund", "template": "workflow", …}, "verifier": null}

After:

    rollout unpack refund.json -o envs/refund
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL144"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    file, folder = problem.span.path, problem.facts["folder"]
    return (
        f"{quoted(file, 200)} is what “rollout compile” writes, not a file to write an environment in.",
        f"Turn it into a folder: rollout unpack {file} -o {folder}",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
