"""A lookup compares a field that is not one of its parameters.

`matchField: id` looks for the row whose `id` equals the argument `id`. When `paramsSchema` does not declare that
parameter, the model has no way to say which row it wants, and nothing is ever found. Call the parameter what the
field is called.

Before:

    tools:
      - {name: get_order, kind: lookup, fromArray: orders, matchField: id, paramsSchema: {order: string}}

After:

    tools:
      - {name: get_order, kind: lookup, fromArray: orders, matchField: id, paramsSchema: {id: string}}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import listed, quoted
from rollout.diagnostics import Severity

CODE = "RL333"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        field = tool.item.text("matchField")
        names = tool.parameters.names
        if not field or not tool.is_declared or field in names:
            continue
        rows = subject.searched(tool.item.text("fromArray") or "")
        if (
            isinstance(rows, list)
            and not any(isinstance(row, dict) and field in row for row in rows)
            and rows
        ):
            # The field is wrong to begin with, which unknown-match-field tells.
            continue
        declared = f"it declares {listed(names)}" if names else "it declares none"
        yield Finding(
            (*tool.route, "matchField"),
            f"The tool {tool} compares the field {quoted(field)}, which is not one of its parameters.",
            f"Declare a parameter {quoted(field)} in paramsSchema; {declared}.",
        )
