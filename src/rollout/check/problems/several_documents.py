"""A YAML file holds more than one document.

A line of three dashes begins a second document, which most readers never look at. One file is one value here.
Move the second into a file of its own, or delete the line if the dashes were meant as a divider (`# ---` is one).
For tasks, use a list in `tasks.yaml` or one task a line in `tasks.jsonl`.

Before:

    slug: refund
    ---
    slug: exchange

After:

    environments/refund/environment.yaml:     slug: refund
    environments/exchange/environment.yaml:   slug: exchange
"""

from __future__ import annotations

from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL113"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    return (
        "A second YAML document begins here; a file holds one.",
        "Move it into a file of its own, or delete this line if it was meant as a divider.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
