"""A value has a YAML tag that is not known here.

A tag (`!something` before a value) asks the reader to build a special kind of value; other tools even run code for
some of them. Here a value is what JSON can hold. Known are `!!str`, `!!int`, `!!float`, `!!bool`, `!!null`, `!!map`
and `!!seq`. Delete the tag, or quote the value where the exclamation mark is text.

Before:

    password: !secret db_password
    warning: !important read this

After:

    password: "to be set at run time"
    warning: "!important read this"
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL111"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    tag = problem.facts["tag"]
    if tag.startswith(("!!binary", "!!set", "!!omap", "!!pairs", "!!timestamp")):
        hint = "Write the value as JSON could hold it: a string, a list or an object, without the tag."
    else:
        hint = "Delete the tag, or put the value in quotes if the exclamation mark is part of the text."
    return f"The tag {quoted(tag)} is not known; a value here is what JSON can hold.", hint


__all__ = ["CODE", "SEVERITY", "describe"]
