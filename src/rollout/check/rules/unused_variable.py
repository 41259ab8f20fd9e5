"""A variable that nothing uses.

`vars` of a tool are worked out only when an expression or a text of the tool asks for them. One that nothing asks for
is left over from a change, or was meant where something else is written.

Before:

    vars: {order: "state.orders[args.id]", owner: vars.order.owner}
    response: "${vars.order}"

After:

    vars: {order: "state.orders[args.id]"}
    response: "${vars.order}"
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity

CODE = "RL347"
SEVERITY = Severity.WARNING


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        if not tool.variables or not subject.is_sound(*tool.route) or not tool.is_understood:
            continue
        used = {str(read.steps[0]) for read in tool.reads if read.root == "vars" and read.steps}
        if used - set(tool.variables):
            continue  # the other side of a misspelt name, which unknown-variable tells
        for name in tool.variables:
            if name not in used:
                yield Finding(
                    (*tool.route, "vars", name),
                    f"Nothing uses {quoted('vars.' + name)} of the tool {tool}.",
                    "Use it, or take it out.",
                    at="key",
                )
