"""A placeholder uses a parameter that the tool does not declare.

`${args.order_id}` is filled in from the call's arguments. The model only knows the parameters in `paramsSchema`, so
it will never give one that is not there, and each call of the tool ends in an error. Correct the spelling, or
declare the parameter.

Before:

    name: refund
    paramsSchema: {order_id: string, amount: number}
    value: {order: "${args.orderId}", amount: "${args.amount}"}

After:

    name: refund
    paramsSchema: {order_id: string, amount: number}
    value: {order: "${args.order_id}", amount: "${args.amount}"}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.meant import parameter_meant, plain_kind
from rollout.check.subject import Subject
from rollout.check.tool_view import Read, ToolView
from rollout.check.wording import listed, quoted, suggestion
from rollout.diagnostics import Severity
from rollout.language.paths import write

CODE = "RL323"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        if not tool.is_declared:
            continue
        for read in tool.reads:
            if subject.calculates(read.route, read.text):
                continue
            if read.root == "args" and (said := _judge(tool, read)) is not None:
                message, hint = said
                yield Finding(read.route, message, hint, at=read.at, span=read.span(subject))


def _judge(tool: ToolView, read: Read) -> tuple[str, str | None] | None:
    if not read.steps:
        return None
    name, *rest = read.steps
    declared = tool.parameters.names
    if name not in declared:
        message = f"{quoted(read.text)} uses a parameter that the tool {tool} does not declare."
        if (near := parameter_meant(tool, str(name), within=bool(rest))) is not None:
            return message, suggestion(near, str(name), read.instead("args." + write([near, *rest])))
        known = f"It declares {listed(declared)}. " if declared else "It declares none. "
        return message, f"{known}Add {quoted(str(name))} to paramsSchema, or take it out here."
    kind = plain_kind(tool, str(name))
    if rest and kind is not None:
        return (
            f"{quoted(read.text)} looks inside {quoted(str(name))}, which is {kind}.",
            f"Use {quoted(read.instead('args.' + write([name])))}, or declare the parameter as an object.",
        )
    return None
