"""An unquoted YAML value means one thing here and another thing to many other readers.

YAML 1.2 is read here, where `no`, `on` and `yes` are strings, `012` is twelve, and `12:30` and `1_000` are strings.
Readers of YAML 1.1, among them PyYAML and Ruby, see false, true, ten, 750 and 1000; and where `0o17` and `1e3` are 15
and 1000 here, they see text. Say what you mean, so that everybody reads the same: put text in quotes, write numbers
in plain digits without leading zeros, colons and underscores, and write `true` and `false`. Dates (`2024-01-31`) are
text here; that YAML 1.1 has a type for them is not told of, as data is full of them.

Before:

    country: no
    zip: 01234
    opens: 12:30
    limit: 1_000

After:

    country: "no"
    zip: "01234"
    opens: "12:30"
    limit: 1000
"""

from __future__ import annotations

import re
from typing import Any

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL119"
SEVERITY = Severity.WARNING


def describe(problem: Problem) -> tuple[str, str | None]:
    facts = problem.facts
    written = facts["written"]
    if facts["kind"] == "version":
        return (
            f"This file says that it is YAML {written}; it is read as YAML 1.2 all the same.",
            "Delete the line, or write %YAML 1.2.",
        )
    if facts["kind"] == "zeros":
        return (
            f"{quoted(written)} is the number {facts['value']}; its leading zeros are lost.",
            f'Write "{written}" for the text, or {facts["value"]} for the number.',
        )
    here, elsewhere = _said(facts["value"]), _said(facts["elsewhere"])
    message = f"{quoted(written)} is {here} here, but {elsewhere} to readers of YAML 1.1."
    if facts["kind"] == "word":
        meaning = "true" if facts["elsewhere"] else "false"
        return message, f'Write "{written}" for the text, or {meaning} for the truth value.'
    if facts["kind"] in ("octal", "exponent"):
        # With a point and a sign, a number with an exponent is one to every reader.
        plain = re.sub(r"^([-+]?[0-9]+)e", r"\1.0e", _plain(facts["value"]))
        return message, f'Write "{written}" for the text, or {plain} for the number.'
    return message, f'Write "{written}" for the text, or {facts["elsewhere"]} for the number.'


def _said(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "text" if isinstance(value, str) else f"the number {_plain(value)}"


def _plain(value: float) -> str:
    return str(int(value) if isinstance(value, float) and value.is_integer() and abs(value) < 1e16 else value)


__all__ = ["CODE", "SEVERITY", "describe"]
