"""A text is not written the way its key takes it.

A slug becomes part of a URL, so it takes letters, digits, `.`, `_` and `-` only; a `python` primitive names a file and
a function in it, as `grade.py:grade`. The hint says what form is expected.

Before:

    slug: refund agent/v2

After:

    slug: refund-agent-v2
"""

from __future__ import annotations

import re

from rollout.check.values import sentence, shown
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL207"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    if "detail" in facts:
        return f"{shown(facts['found'])} is not what the schema takes: {facts['detail']}.", None
    found = facts["found"]
    message = f"{sentence(facts['part'])} is not written right: {shown(found)}."
    form = f"It takes {facts['form']}." if facts["form"] else None
    if facts["part"] == "“slug”" and (slug := _slug(found)):
        return message, f"Did you mean “{slug}”? {form}"
    return message, form


def _slug(text: str) -> str:
    return re.sub(r"[^A-Za-z0-9._]+", "-", text).strip("-._")[:100]


__all__ = ["CODE", "SEVERITY", "describe"]
