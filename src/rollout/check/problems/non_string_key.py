"""A key is no string.

Everything in an environment becomes JSON, where keys are strings. In YAML an unquoted `404`, `true` or `null` is
a number, a truth value or nothing, and braces begin an object. Put the key in quotes. A value such as
`{{ order_id }}`, which is two objects in each other to YAML, has to be quoted as well when text is meant.

Before:

    statuses:
      404: not found

After:

    statuses:
      "404": not found
"""

from __future__ import annotations

from rollout.check.values import described
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL110"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    written, value = problem.facts["written"], problem.facts["value"]
    if not written:
        return "A key is missing before this colon.", "Write the key, or two quotes for one without letters."
    if isinstance(value, dict | list):
        return (
            f"The key {quoted(written)} is {described(value)}; keys are text.",
            "If this was meant as text, put the whole of it in quotes.",
        )
    return (
        f"The key {quoted(written)} is {described(value)}; keys are text.",
        f'Put it in quotes: "{written}"',
    )


__all__ = ["CODE", "SEVERITY", "describe"]
