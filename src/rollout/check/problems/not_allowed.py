"""A value that is not one of those its key takes.

`template`, `kind`, `type`, `split` and a few more name one of several things. A name that is not among them cannot
be guessed at: a primitive of an unknown type would judge nothing, and must not pass. Write one of the values that
are listed.

Before:

    - name: refunded
      type: state_macth
      expected: {refunds.length: 1}

After:

    - name: refunded
      type: state_match
      expected: {refunds.length: 1}
"""

from __future__ import annotations

from collections.abc import Sequence

from rollout.check.values import sentence, shown
from rollout.check.wording import closest, quoted, suggestion
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL204"
SEVERITY = Severity.ERROR

_ALSO_CALLED = {
    "any": "object",
    "bool": "boolean",
    "browse": "browser",
    "coding": "code-editing",
    "code": "code-editing",
    "database": "sql",
    "dict": "object",
    "double": "number",
    "eval": "test",
    "evaluation": "test",
    "float": "number",
    "int": "integer",
    "list": "array",
    "map": "object",
    "paragraph": "text",
    "sqlite": "sql",
    "str": "string",
    "training": "train",
    "val": "dev",
    "validation": "dev",
    "web": "browser",
}
_FEW = 6


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    # Where null may stand for what is left out, it is no choice to tell of.
    found, allowed = facts["found"], tuple(each for each in facts["allowed"] if each is not None)
    message = f"{sentence(facts['part'])} cannot be {shown(found)}."
    if isinstance(found, str) and found in facts["elsewhere"]:
        return message, f"{quoted(found)} goes with “{facts['elsewhere'][found]}”."
    if (
        isinstance(found, str)
        and facts["part"].startswith("parameter")
        and (written := _as_schema(found, allowed))
    ):
        return message, f"Write {written}."
    meant = _meant(found, allowed) if isinstance(found, str) else None
    if meant is None:
        return message, _choices(allowed)
    return message, suggestion(meant, found) + (f" {_choices(allowed)}" if 1 < len(allowed) <= _FEW else "")


def _as_schema(found: str, allowed: Sequence[str]) -> str | None:
    """The JSON Schema that says what a type written as ``string?``, ``number[]`` or ``string, optional`` means."""
    text = found.strip().lower()
    name = (
        text.removesuffix("?")
        .removesuffix("[]")
        .removesuffix("optional")
        .rstrip(", ")
        .removeprefix("optional")
        .strip()
    )
    kind = _ALSO_CALLED.get(name, name)
    if kind not in allowed or name == text:
        return None
    if text.endswith("[]"):
        return f"{{type: array, items: {{type: {kind}}}}}"
    return f"{{type: {kind}, optional: true}}"


def _meant(found: str, allowed: Sequence[str]) -> str | None:
    also = _ALSO_CALLED.get(found.strip().lower())
    return also if also in allowed else closest(found, allowed)


def _choices(allowed: Sequence[str]) -> str:
    if len(allowed) == 1:
        return f"It can only be {quoted(allowed[0])}."
    return f"It can be {', '.join(map(quoted, allowed[:-1]))} or {quoted(allowed[-1])}."


__all__ = ["CODE", "SEVERITY", "describe"]
