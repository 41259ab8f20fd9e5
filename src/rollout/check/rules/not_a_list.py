"""A lookup searches something that is not a list of objects.

`fromArray` goes through a list and compares the field `matchField` of each row. A fixture that is an object keyed by id
is reached by a path instead: `fixturePath: orders.${args.order_id}`. A row that is not an object can never be found.

Before:

    tools:
      - {name: get_order, kind: lookup, fromArray: orders, matchField: id, paramsSchema: {id: string}}
    fixtures:
      orders:
        O-1: {amount: 100}

After:

    tools:
      - {name: get_order, kind: lookup, fixturePath: "orders.${args.id}", paramsSchema: {id: string}}
    fixtures:
      orders:
        O-1: {amount: 100}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.paths import MISSING, kind

CODE = "RL331"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        name = tool.item.text("fromArray")
        if not name or (rows := subject.searched(name)) is MISSING:
            continue
        route = (*tool.route, "fromArray")
        if not isinstance(rows, list):
            field = tool.item.text("matchField") or "id"
            by_path = f"Use {quoted(f'fixturePath: {name}.${{args.{field}}}')}, or make it a list of objects."
            yield Finding(
                route,
                f"The tool {tool} searches {quoted(name)}, which is {kind(rows)}, not a list.",
                by_path
                if isinstance(rows, dict) and name in subject.fixtures
                else "Make it a list of objects.",
            )
            continue
        odd = next((index for index, row in enumerate(rows) if not isinstance(row, dict)), None)
        if odd is not None:
            home = ("config", "fixtures" if name in subject.fixtures else subject.state_key, name, odd)
            yield Finding(
                route,
                f"The tool {tool} searches {quoted(name)}, whose item {odd} is {kind(rows[odd])}, not an object.",
                "Make every item an object with the field that is compared.",
                see=((home, "this item can never be found"),),
            )
