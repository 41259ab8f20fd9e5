"""A tool's name holds characters that model providers refuse, or is too long.

A name may hold letters, digits, `_` and `-`, and 64 of them at most (`^[a-zA-Z0-9_-]{1,64}$`). With any other name
the provider answers every request of the rollout with an error, so no task can be run at all.

Before:

    tools:
      - name: refund.create order

After:

    tools:
      - name: refund_create_order
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity

CODE = "RL320"
SEVERITY = Severity.ERROR

_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}\Z")
_OUTSIDE = re.compile(r"[^a-zA-Z0-9_-]+")


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tools:
        name = tool.text("name")
        if name is None or _NAME.match(name):
            continue
        suggestion = _OUTSIDE.sub("_", name).strip("_")[:64].rstrip("_")
        if not name:
            message = "A tool's name is empty."
        elif len(name) > 64 and not _OUTSIDE.search(name):
            message = f"The tool name {quoted(name, 70)} is {len(name)} characters long; 64 are allowed."
        else:
            message = f"The tool name {quoted(name, 70)} holds characters that no model provider accepts."
        way_out = "A name holds letters, digits, “_” and “-”, and at most 64 of them"
        yield Finding(
            (*tool.route, "name"), message, f"{way_out}: {suggestion}." if suggestion else f"{way_out}."
        )
