"""A tool declares a parameter that nothing uses.

The model is asked for a value, and the value is dropped without a word: `refund(amount: 40)` refunds whatever the
tool says. That is nearly always a placeholder that was forgotten, and the agent's mistake in it can never be
graded. Use the parameter, or take it out. A tool that only answers (a mock) is free to ignore what it is given,
and so are arguments that the verifier looks at with `tool_called_with` or `calls_match`.

Before:

    name: refund
    paramsSchema: {order_id: string, amount: number}
    appendTo: refunds
    value: {order_id: "${args.order_id}"}

After:

    name: refund
    paramsSchema: {order_id: string, amount: number}
    appendTo: refunds
    value: {order_id: "${args.order_id}", amount: "${args.amount}"}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.grading import arguments_of, expected_calls
from rollout.check.meant import parameter_meant
from rollout.check.subject import Subject
from rollout.check.tool_view import ToolView
from rollout.check.wording import quoted
from rollout.diagnostics import Severity

CODE = "RL327"
SEVERITY = Severity.WARNING


def check(subject: Subject) -> Iterator[Finding]:
    judged = _judged_arguments(subject)
    for tool in subject.tool_views:
        if not tool.is_declared or _only_answers(tool) or tool.takes_arguments_whole:
            continue
        if not subject.is_sound(*tool.route) or not tool.is_understood:
            # The parameter may be used under a misspelt key, or in a placeholder that could not be read.
            continue
        used = {str(each.steps[0]) for each in tool.reads if each.root == "args" and each.steps}
        used |= {field} if (field := tool.item.text("matchField")) else set()
        # The other side of a misspelt name, which undeclared-parameter or undeclared-match-field tells.
        meant = {parameter_meant(tool, name, within=within) for name, within in _undeclared(tool)}
        unused = [name for name in tool.parameters.names if name not in used | meant]
        whole = tool.parameters.form == "json-schema"
        for name in unused:
            if (tool.name, name) in judged:
                continue
            yield Finding(
                (*tool.route, "paramsSchema", *(("properties",) if whole else ()), name),
                f"Nothing uses the parameter {quoted(name)} of the tool {tool}.",
                f"Use it as {quoted('${args.' + name + '}')}, or take it out.",
                at="key",
            )


def _undeclared(tool: ToolView) -> Iterator[tuple[str, bool]]:
    """The names that the tool uses and does not declare, and whether something inside of them is used."""
    names = tool.parameters.names
    for read in tool.reads:
        if read.root == "args" and read.steps and read.steps[0] not in names:
            yield str(read.steps[0]), len(read.steps) > 1
    if (field := tool.item.text("matchField")) and field not in names:
        yield field, False


def _only_answers(tool: ToolView) -> bool:
    if tool.kind == "mock":
        return True
    answers = (
        "response" in tool.item.value
        and not tool.writes
        and not tool.item.value.keys() & {"mutates", "cases"}
    )
    return answers and not any(each.root == "args" for each in tool.reads)


def _judged_arguments(subject: Subject) -> set[tuple[str | None, str]]:
    judged: set[tuple[str | None, str]] = set()
    for primitive in subject.primitives:
        args = primitive.value.get("args")
        if isinstance(args, dict):
            judged |= {(primitive.text("tool"), name) for name in args}
        for call in expected_calls(primitive):
            judged |= {(call.get("tool"), name) for _, name in arguments_of(call)}
    return judged
