"""A folder has parts of an environment, but no environment file.

`environment.yaml` (or `.toml`, `.json`) says what the environment is: at least its `template`. Without it
`config.yaml`, `tasks.jsonl` and `verifier.yaml` beside it mean nothing. Add it, or correct its name.

Before:

    $ ls environments/refund
    config.yaml  enviroment.yaml  tasks.jsonl

After:

    $ ls environments/refund
    config.yaml  environment.yaml  tasks.jsonl
"""

from __future__ import annotations

from rollout.check.wording import closest, quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL134"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    names, near = problem.facts["names"], problem.facts["near"]
    message = f"There is no environment.yaml in {quoted(problem.span.path)}."
    if near and near[0] in names:
        return message, f"{quoted(near[0])} is a folder there: put a file in its place."
    if near:
        return (
            message,
            f"{quoted(near[0])} is not read. Did you mean {quoted(closest(near[0], names) or names[0])}?",
        )
    return message, "Add one that says at least which template it is: template: workflow"


__all__ = ["CODE", "SEVERITY", "describe"]
