"""A number is written that JSON cannot hold.

Infinity and NaN ("not a number") have no way to be written in JSON, so they never reach the platform; nor does a
number that is too large for a 64-bit float, such as `1e999`, or one of thousands of digits. Write a number that is
large enough, `null` where there is none, or text in quotes.

Before:

    limit: .inf

After:

    limit: 1000000
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL120"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    written = problem.facts["written"]
    if any(digit in written for digit in "0123456789"):
        return (
            f"The number {quoted(written, 30)} is too large to be held.",
            "Write a smaller number, or put it in quotes if it is text.",
        )
    return (
        f"{quoted(written)} is no number that JSON can hold.",
        "Write a finite number, null where there is none, or put it in quotes if it is text.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
