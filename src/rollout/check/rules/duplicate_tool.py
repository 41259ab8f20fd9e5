"""Two tools have the same name.

A call says only the name, so one of the two can never be reached; which one differs between engines, and most
providers refuse the request altogether. Give each tool a name of its own.

Before:

    tools:
      - {name: refund, kind: action, stateArray: refunds}
      - {name: refund, kind: mock, response: {ok: true}}

After:

    tools:
      - {name: refund, kind: action, stateArray: refunds}
      - {name: refund_status, kind: mock, response: {ok: true}}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Route

CODE = "RL321"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    first: dict[str, Route] = {}
    for tool in subject.tools:
        name = tool.text("name")
        if not name:
            continue
        route = (*tool.route, "name")
        if name in first:
            yield Finding(
                route,
                f"There is another tool called {quoted(name)}.",
                "Give each tool a name of its own; a call says nothing but the name.",
                see=((first[name], "the other one"),),
            )
        first.setdefault(name, route)
