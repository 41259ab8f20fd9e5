"""A variable that the tool does not have, or that needs itself.

`vars` of a tool are values by name, each an expression. `vars.total` stands for one in an expression of the same tool,
`${vars.total}` in one of its texts. One that is not declared has no value, and neither has one that needs itself to be
worked out, so every call that asks for it would fail.

Before:

    vars: {total: "sum(vars.lines.map(line, line.price))"}
    response: {total: "${vars.totl}"}

After:

    vars: {lines: "state.carts[args.cart]", total: "sum(vars.lines.map(line, line.price))"}
    response: {total: "${vars.total}"}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.tool_view import ToolView
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity
from rollout.language.circles import circles

CODE = "RL342"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        for read in tool.reads:
            if subject.calculates(read.route, read.text):
                continue
            if read.root == "vars" and (not read.steps or read.steps[0] not in tool.variables):
                name = str(read.steps[0]) if read.steps else ""
                yield Finding(
                    read.route,
                    f"{quoted(read.text)} is no variable of the tool {tool}.",
                    did_you_mean(name, list(tool.variables), kind="vars")
                    or "Declare it under “vars”, with the expression that it stands for.",
                    at=read.at,
                    span=read.span(subject),
                )
        yield from _circles(tool)


def _circles(tool: ToolView) -> Iterator[Finding]:
    needs = {
        str(route[-1]): [look.key for look in condition.looks if look.root == "vars" and look.key is not None]
        for route, condition in tool.conditions
        if route[-2] == "vars"
    }
    for name, through in circles(needs):
        way = "" if through is None else f", by way of {quoted('vars.' + through)}"
        yield Finding(
            (*tool.route, "vars", name),
            f"{quoted('vars.' + name)} needs itself to be worked out{way}.",
            "Work one of them out from args, state or the task instead.",
        )
