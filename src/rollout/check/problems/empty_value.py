"""A key is there, but nothing stands in it.

A key left empty (`tools:` with nothing after it, `null`, `""`, `[]`) is most often unfinished. An empty list of
primitives would judge nothing, and an empty list of terms would always be found, so neither is accepted. Fill it in,
or take the key out where it is optional.

Before:

    primitives:
      - name: says_so
        type: contains_terms
        terms: []

After:

    primitives:
      - name: says_so
        type: contains_terms
        terms: [refund, O-1]
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rollout.check.values import sentence, types_in_words
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL205"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    found = facts["found"]
    out = "" if facts["required"] else ", or remove the key"
    if found is None:
        return f"{sentence(facts['part'])} has no value.", f"Give it {_wanted(facts)}{out}."
    if found == "":
        return f"{sentence(facts['part'])} is an empty text.", f"Write something{out}."
    if isinstance(found, list):
        return f"{sentence(facts['part'])} is an empty list.", f"Put at least one item into it{out}."
    return f"{sentence(facts['part'])} is empty.", f"Put at least one key into it{out}."


def _wanted(facts: dict[str, Any]) -> str:
    allowed: Sequence[str] | None = facts["allowed"]
    if not allowed:
        return types_in_words(facts["types"])
    names = list(map(quoted, allowed))
    return " or ".join(filter(None, [", ".join(names[:-1]), names[-1]]))


__all__ = ["CODE", "SEVERITY", "describe"]
