"""A lookup compares a field that no row has.

`matchField` is the field that must equal the argument of the same name. When no row of the list has it, nothing is
ever found, whatever the agent asks for.

Before:

    tools:
      - {name: get_order, kind: lookup, fromArray: orders, matchField: order_id, paramsSchema: {order_id: string}}
    fixtures:
      orders: [{id: O-1, amount: 100}]

After:

    tools:
      - {name: get_order, kind: lookup, fromArray: orders, matchField: id, paramsSchema: {id: string}}
    fixtures:
      orders: [{id: O-1, amount: 100}]
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity

CODE = "RL332"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        name, field = tool.item.text("fromArray"), tool.item.text("matchField")
        if not name or not field:
            continue
        rows = subject.searched(name)
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            continue
        if name not in subject.fixtures and any(write.path.known[:1] == (name,) for write in subject.writes):
            # The rows that a tool adds may have the field.
            continue
        if not any(field in row for row in rows):
            fields = list(dict.fromkeys(key for row in rows[:100] for key in row))
            yield Finding(
                (*tool.route, "matchField"),
                f"No row of {quoted(name)} has the field {quoted(field)}, so the tool {tool} never finds one.",
                did_you_mean(field, fields, kind="fields"),
            )
