"""A JSON string holds half a character.

`\\ud83d` is the first half of a character that JSON writes in two; without the second it stands for nothing, and no
UTF-8 file can hold it. It comes from text that was cut in the middle of an emoji. Complete the pair, write the
character itself, or delete the half.

Before:

    {"instruction": "Well done \\ud83d"}

After:

    {"instruction": "Well done \\ud83d\\ude00"}
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL122"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    return (
        f"{quoted(problem.facts['written'])} is half a character; its other half is missing.",
        "Complete the pair, write the character itself, or delete it.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
