"""A lookup searches a list that does not exist.

`fromArray` names a fixture (or a list of the state). When there is none of that name, every call of the tool fails.

Before:

    tools:
      - {name: get_order, kind: lookup, fromArray: order, matchField: id, paramsSchema: {id: string}}
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
from rollout.language.paths import MISSING

CODE = "RL330"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    if not subject.is_sound("config", "fixtures") or not subject.is_sound("config", subject.state_key):
        return
    for tool in subject.tool_views:
        name = tool.item.text("fromArray")
        if name and subject.searched(name) is MISSING:
            names = [*subject.fixtures, *subject.initial_state]
            yield Finding(
                (*tool.route, "fromArray"),
                f"The tool {tool} searches {quoted(name)}, but there is no such fixture.",
                did_you_mean(name, names, kind="fixtures and lists")
                or f"Add it: fixtures/{name}.yaml, or config.fixtures.{name}.",
            )
