"""A tool that says nothing for calls that no case fits.

Where no `when` is true, a tool's own `response` and `mutates` say what happens. A tool that has neither refuses the
call, and an agent only learns that none of its cases fits. Say in a last case without `when` why the call is refused,
so that the agent can do something about it.

Before:

    cases:
      - when: state.orders[args.id].status == "delivered"
        mutates: {path: "orders.${args.id}.status", value: returned}

After:

    cases:
      - when: state.orders[args.id].status == "delivered"
        mutates: {path: "orders.${args.id}.status", value: returned}
      - error: Only an order that was delivered can be returned.
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.diagnostics import Severity
from rollout.language.tool_texts import cases

CODE = "RL344"
SEVERITY = Severity.WARNING


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        value = tool.item.value
        written = list(cases(value))
        if not written or value.keys() & {"response", "mutates"} or not subject.is_sound(*tool.route):
            continue
        fits = tool.constant_cases
        if all(isinstance(case.get("when"), str) and not fits.get(index) for index, case in written):
            yield Finding(
                (*tool.route, "cases"),
                f"Nothing says what the tool {tool} answers to a call that none of its cases fits.",
                "Add a last case without “when”: an error that says why, or a response.",
                at="key",
            )
