"""A parameter may be left out, but the tool cannot do without it.

A placeholder that finds no value fails the call. So when `note` is optional and the tool writes `${args.note}`, every
agent that leaves it out, as it may, gets an error for a correct call. Make the parameter required, or let the
tool put down all arguments as they are (`stateArray`, or `value: "${args}"`).

Before:

    name: refund
    paramsSchema: {order_id: string, note: {type: string, optional: true}}
    appendTo: refunds
    value: {order_id: "${args.order_id}", note: "${args.note}"}

After:

    name: refund
    paramsSchema: {order_id: string, note: string}
    appendTo: refunds
    value: {order_id: "${args.order_id}", note: "${args.note}"}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.tool_view import ToolView
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Route

CODE = "RL338"
SEVERITY = Severity.WARNING


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        if not tool.is_declared:
            continue
        required = tool.parameters.schema.get("required", [])
        if not isinstance(required, list) or any(name not in tool.parameters.names for name in required):
            continue  # the one that is not declared may be this one, misspelt
        for name, (route, shown) in _needed(tool).items():
            if name in tool.parameters.names and name not in required:
                whole = tool.parameters.form == "json-schema"
                place = (*tool.route, "paramsSchema", *(("properties",) if whole else ()), name)
                yield Finding(
                    place,
                    f"The parameter {quoted(name)} of the tool {tool} may be left out, but a call without it fails.",
                    f"Make it required: the tool uses {shown}, and a call that does not give it has nothing there.",
                    at="key",
                    see=((route, "used here"),),
                )


def _needed(tool: ToolView) -> dict[str, tuple[Route, str]]:
    needed: dict[str, tuple[Route, str]] = {}
    first = (*tool.route, "cases", 0, "when")
    for read in tool.reads:
        # What stands in a case is needed only where the case fits, and a variable only where something asks for it.
        always = read.route[len(tool.route)] not in ("cases", "vars") or read.route == first
        if always and read.root == "args" and read.steps and ("args", read.steps[:1]) not in tool.asked_for:
            needed.setdefault(str(read.steps[0]), (read.route, quoted(read.text)))
    if field := tool.item.text("matchField"):
        needed.setdefault(field, ((*tool.route, "matchField"), f"it to find the row ({quoted(field)})"))
    return needed
