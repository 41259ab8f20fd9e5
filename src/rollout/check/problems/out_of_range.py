"""A number, a length or a count is outside of what its key takes.

A negative weight would reward a failure, and a pass threshold above 1 could never be reached. The hint names the
bound; a share is written from 0 to 1, not in per cent.

Before:

    passThreshold: 80

After:

    passThreshold: 0.8
"""

from __future__ import annotations

from typing import Any

from rollout.check.values import first_sentence, sentence, shown
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL206"
SEVERITY = Severity.ERROR

_NUMBERS = {
    "minimum": "at least {}",
    "maximum": "at most {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
}
_SIZES = {
    "minLength": ("characters", "at least"),
    "maxLength": ("characters", "at most"),
    "minItems": ("items", "at least"),
    "maxItems": ("items", "at most"),
    "minProperties": ("keys", "at least"),
    "maxProperties": ("keys", "at most"),
}


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    part, found, bound, limit = sentence(facts["part"]), facts["found"], facts["bound"], facts["limit"]
    about = first_sentence(facts["schema"].get("description"))
    if bound in _NUMBERS:
        message = f"{part} has to be {_NUMBERS[bound].format(shown(limit))}, not {shown(found)}."
        return message, _share(found, limit) if bound == "maximum" else about
    noun, words = _SIZES[bound]
    size = len(found)
    message = f"{part} has {size} {noun if size != 1 else noun.rstrip('s')}; it takes {words} {limit}."
    return message, about


def _share(found: Any, limit: Any) -> str | None:
    if limit == 1 and 10 <= found <= 100:
        return f"Did you mean {shown(found / 100)}?"
    return f"Write {shown(limit)} or less."


__all__ = ["CODE", "SEVERITY", "describe"]
