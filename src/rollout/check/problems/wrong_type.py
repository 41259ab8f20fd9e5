"""A value is of another type than its key takes.

Text where a number belongs, one thing where a list belongs, a list where keys with values belong. Nothing is
converted in silence, because `"10"` and `10` are graded as different values. In YAML, `yes`, `no` and `on` are text;
write `true` or `false`.

Before:

    - name: refunded
      type: ground_truth_match
      weight: "2"

After:

    - name: refunded
      type: ground_truth_match
      weight: 2
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any

from rollout.check.headers import written_header
from rollout.check.sql_ways_out import is_query
from rollout.check.values import described, sentence, shown, types_in_words
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL203"
SEVERITY = Severity.ERROR

_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
_WORDS = {"true": "true", "yes": "true", "on": "true", "false": "false", "no": "false", "off": "false"}


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    found, types = facts["found"], facts["types"]
    message = f"{sentence(facts['part'])} has to be {types_in_words(types)}, not {described(found)}."
    if "array" in types and (header := written_header(problem.span)) is not None:
        return message, f"Write [{header}] over each of its members."
    return message, _way_out(found, types, facts)


def _way_out(found: Any, types: Sequence[str], facts: dict[str, Any]) -> str | None:
    if isinstance(found, str):
        text = found.strip()
        if "boolean" in types and text.lower() in _WORDS:
            return f"Write {_WORDS[text.lower()]}, without quotes."
        if ("number" in types or "integer" in types) and _NUMBER.fullmatch(text):
            return f"Take off the quotes: {text}"
    if (
        isinstance(found, bool | int | float)
        and "string" in types
        and not facts["part"].startswith("parameter")
    ):
        return f"Put it in quotes: {json.dumps(shown(found))}"
    if isinstance(found, bool) and "number" in types:
        return f"Write {int(found)}."
    if (
        "array" in types
        and isinstance(found, dict)
        and found
        and all(isinstance(each, dict) for each in found.values())
    ):
        return "Write each as an item of a list, with its name inside it."
    takes_no_object = "string" in types and isinstance(found, dict)
    if "array" in types and not isinstance(found, list) and not takes_no_object:
        return "Put it in a list: [ … ]."
    if isinstance(found, list) and len(found) == 1 and "object" in types and isinstance(found[0], dict):
        return "Take what is in the list out of it."
    if "object" in types and is_query(found):
        return f"Give it a name: {json.dumps({'query': found}, ensure_ascii=False)}"
    if facts.get("example") is not None:
        return f"For example: {json.dumps(facts['example'], ensure_ascii=False)}"
    return facts.get("about")


__all__ = ["CODE", "SEVERITY", "describe"]
