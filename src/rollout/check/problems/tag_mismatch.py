"""A YAML tag says one type, and the value is of another.

`!!int abc` asks for a whole number and gives letters. Correct the value, or delete the tag.

Before:

    amount: !!int "twelve"

After:

    amount: 12
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL112"
SEVERITY = Severity.ERROR

_NAMES = {
    "!!bool": "true or false",
    "!!int": "a whole number",
    "!!float": "a number",
    "!!null": "null",
    "!!str": "a string",
    "!!map": "an object",
    "!!seq": "a list",
}


def describe(problem: Problem) -> tuple[str, str | None]:
    tag, written = problem.facts["tag"], problem.facts["written"]
    wanted = _NAMES.get(tag, "another type")
    found = "what follows" if written is None else quoted(written) if written else "nothing"
    return (
        f"The tag {quoted(tag)} asks for {wanted}, and {found} is none.",
        "Correct the value, or delete the tag.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
