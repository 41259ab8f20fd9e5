"""A value of a Python environment is not JSON.

An environment travels as JSON, which knows objects with text as keys, lists, texts, numbers, true, false and null. A
set, a date, a path or an object of a class of your own has no form there, and a key that is a number would become
text without anybody noticing. Convert it where it is made.

Before:

    config={"tools": [], "fixtures": {"days": {1: date(2025, 1, 31)}}}

After:

    config={"tools": [], "fixtures": {"days": {"1": date(2025, 1, 31).isoformat()}}}
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem, Route

CODE = "RL142"
SEVERITY = Severity.ERROR

_WAYS_OUT = {
    "set": "Write a list; sorted(…) makes one that is the same every time.",
    "frozenset": "Write a list; sorted(…) makes one that is the same every time.",
    "date": "Write it as text: .isoformat()",
    "datetime": "Write it as text: .isoformat()",
    "time": "Write it as text: .isoformat()",
    "Decimal": "Write a float, or text: str(…)",
    "bytes": "Write text: .decode()",
    "PosixPath": "Write text: str(…)",
    "WindowsPath": "Write text: str(…)",
    "generator": "Write a list: list(…)",
    "function": "Call it, or write its result.",
}

_TYPE_WORDS = {
    "str": "string",
    "int": "integer",
    "float": "number",
    "bool": "boolean",
    "list": "array",
    "tuple": "array",
    "dict": "object",
    "NoneType": "null",
}
"""What the types of Python are called in a JSON Schema."""


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    where, name = quoted(_path(facts["route"])), facts["type"]
    match facts["kind"]:
        case "cycle":
            return f"{where} holds itself.", "Write out what is meant; JSON has no references."
        case "key":
            return (
                f"{where} has the key {facts['key']}, of type {name}; JSON has only text as keys.",
                "Write the key as text.",
            )
    if (word := _TYPE_WORDS.get(facts.get("names", ""))) is not None:
        return f"{where} is Python's {facts['names']}; JSON has no types as values.", f'Write "{word}".'
    return f"{where} is of type {name}, which JSON does not have.", _WAYS_OUT.get(
        name, "Convert it where it is made."
    )


def _path(route: Route) -> str:
    text = ""
    for step in route:
        text += f"[{step}]" if isinstance(step, int) else f".{step}" if text else step
    return text


__all__ = ["CODE", "SEVERITY", "describe"]
