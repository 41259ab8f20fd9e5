"""A key of the environment is given in two places.

Any top-level key may stand in `environment.yaml` or in a file of its own, such as `config.yaml`, `tasks.jsonl` or
`verifier.yaml`, and some config keys in a folder of their own, such as `fixtures/`. If both are there, what one person
reads is not what another runs, so neither is taken silently. Keep one.

Before:

    # environment.yaml
    template: workflow
    verifier: {primitives: [{name: state, type: ground_truth_match}]}

    # verifier.yaml
    primitives: [{name: called, type: tool_was_called, tool: refund}]

After:

    # environment.yaml
    template: workflow

    # verifier.yaml
    primitives: [{name: called, type: tool_was_called, tool: refund}]
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL132"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    key, first, here = problem.facts["key"], problem.facts["first"], problem.span
    if key == "environment":
        return (
            f"This folder has two environment files, {quoted(first.path)} and {quoted(here.path)}.",
            "Keep one of them.",
        )
    message = f"{quoted(key)} is given in two places: here, and in {first.path}:{first.line}."
    if key.startswith("config.") and key.count(".") == 1 and first.path != here.path:
        return message, "Move all of it into one of the two."
    return message, "Keep one of the two."


__all__ = ["CODE", "SEVERITY", "describe"]
