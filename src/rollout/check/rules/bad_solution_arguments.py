"""A step of a solution gives arguments that the tool does not take.

A call whose arguments do not satisfy the tool's parameters is answered with an error and changes nothing, so the
solution does not solve the task.

Before:

    # refund takes {order_id: string, amount: number}
    "solution": [{"tool": "refund", "args": {"order": "O-1", "amount": "100"}}]

After:

    "solution": [{"tool": "refund", "args": {"order_id": "O-1", "amount": 100}}]
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.tool_view import ToolView
from rollout.check.wording import closest, listed, quoted
from rollout.diagnostics import Severity
from rollout.language.compare import show
from rollout.language.paths import kind, write
from rollout.source.document import TaskRecord
from rollout.source.place import Route

CODE = "RL309"
SEVERITY = Severity.ERROR

_KINDS = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}

IsValid = Callable[[Any], bool]


def screen(data: bytes) -> bool:
    """Whether one of the lines may have a solution at all; an escape may hide the word."""
    return b"solution" in data or b"\\u00" in data


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    names = Counter(tool.name for tool in subject.tool_views)
    # Of two tools with one name nobody can say which is meant.
    tools = {tool.name: tool for tool in subject.tool_views if tool.name and names[tool.name] == 1}
    if not tools:
        return None
    validators: dict[str, IsValid | None] = {}

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        steps = record.value.get("solution")
        if not steps:
            return None
        found: list[Finding] | None = None
        for index, step in enumerate(steps):
            name = step.get("tool")
            if name not in tools:
                continue
            if name not in validators:
                validators[name] = _validator(tools[name])
            is_valid = validators[name]
            if is_valid is not None and not is_valid(step.get("args", {})):
                route = ("tasks", record.index, "solution", index)
                found = found or []
                found.extend(_findings(tools[name], step, route))
        return found

    return judge


def _validator(tool: ToolView) -> IsValid | None:
    import jsonschema_rs

    if tool.parameters.faults:
        return None
    try:
        return jsonschema_rs.validator_for(tool.parameters.schema).is_valid
    except (ValueError, TypeError):
        # bad-params-schema has the words for a schema that is none.
        return None


def _findings(tool: ToolView, step: dict[str, Any], route: Route) -> Iterator[Finding]:
    from jsonschema.validators import Draft202012Validator, validator_for

    schema, args = tool.parameters.schema, step.get("args", {})
    told_missing: set[str] = set()
    # The errors' types are loose: what a keyword's value is depends on the keyword.
    found: list[Any] = list(validator_for(schema, default=Draft202012Validator)(schema).iter_errors(args))
    surplus = [name for name in args if isinstance(args, dict) and name not in tool.parameters.names]
    for error in found:
        below = tuple(error.absolute_path)
        here = (*route, "args", *below)
        if error.validator == "required" and isinstance(error.instance, dict):
            missing = [name for name in error.validator_value if name not in error.instance]
            for name in missing:
                if name in told_missing or (not below and closest(name, surplus) is not None and surplus):
                    continue
                told_missing.add(name)
                place = here if "args" in step else (*route, "tool")
                yield Finding(
                    place,
                    f"The call of {tool} does not give {quoted(write([*below, name]))}, which it has to.",
                    f"Its arguments are {listed(tool.parameters.names)}." if not below else None,
                    at="key" if "args" in step else "value",
                )
        elif error.validator == "additionalProperties" and error.validator_value is False:
            known = list(error.schema.get("properties", {}))
            for name in error.instance:
                if name not in known:
                    near = closest(name, known)
                    takes = f"It takes {listed(known)}." if known else "It takes no arguments."
                    yield Finding(
                        (*here, name),
                        f"The tool {tool} takes no argument {quoted(write([*below, name]))}.",
                        f"Did you mean {quoted(near)}?" if near else takes,
                        at="key",
                    )
        elif error.validator == "type":
            wanted = (
                [error.validator_value] if isinstance(error.validator_value, str) else error.validator_value
            )
            takes = " or ".join(_KINDS.get(each, each) for each in wanted)
            name = quoted(write(below)) if below else "args"
            given = f"{show(error.instance)[:40]}, {kind(error.instance)}"
            yield Finding(here, f"{name} is {given}; the tool {tool} takes {takes}.")
        elif error.validator == "enum":
            values = [show(each) for each in error.validator_value]
            near = closest(
                str(error.instance), [each for each in error.validator_value if isinstance(each, str)]
            )
            takes = f"It takes {', '.join(values[:8])}{', …' if len(values) > 8 else ''}."
            yield Finding(
                here,
                f"{quoted(write(below))} is {show(error.instance)[:40]}, which the tool {tool} does not take.",
                f"Did you mean {quoted(near)}?" if near else takes,
            )
        elif isinstance(error.validator_value, str | int | float):
            name = quoted(write(below)) if below else "args"
            yield Finding(
                here,
                f"{name} is {show(error.instance)[:40]}; the tool {tool} wants "
                f"{error.validator} {show(error.validator_value)[:60]}.",
            )
        else:
            yield Finding(here, f"The tool {tool} does not take these arguments: {error.message[:200]}.")
