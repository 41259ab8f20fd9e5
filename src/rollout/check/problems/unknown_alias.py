"""A YAML alias repeats a value that no anchor before it names.

`*name` stands for the value that `&name` marked earlier in the same file. Mark the value first, correct the name,
or put the text in quotes where an asterisk is meant, as in a file pattern.

Before:

    first: &adress {city: Bonn}
    second: *address
    pattern: *.py

After:

    first: &address {city: Bonn}
    second: *address
    pattern: "*.py"
"""

from __future__ import annotations

from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL114"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    name, known = problem.facts["name"], problem.facts["known"]
    hint = did_you_mean(name, known, kind="anchors")
    otherwise = "If the asterisk is part of the text, put the text in quotes."
    return (
        f"No anchor {quoted('&' + name)} stands before this alias.",
        f"{hint} {otherwise}" if hint else otherwise,
    )


__all__ = ["CODE", "SEVERITY", "describe"]
