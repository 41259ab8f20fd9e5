"""A step of a solution gives arguments that the tool does not take.

A call whose arguments do not satisfy the tool's parameters is answered with an error and changes nothing, so the
solution does not solve the task. Where a tool declares no parameters, they are those that its texts use, and one of
these may be what is misspelt.

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
from rollout.check.solution_screen import may_hold_solution
from rollout.check.spelling import Spellings
from rollout.check.subject import Subject
from rollout.check.tool_view import Read, ToolView
from rollout.check.wording import closest, listed, quoted, suggestion
from rollout.diagnostics import Severity
from rollout.language.compare import show
from rollout.language.paths import get, kind, write
from rollout.language.user_schema import SchemaFault, resolve
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


screen = may_hold_solution


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    names = Counter(tool.name for tool in subject.tool_views)
    # Of two tools with one name nobody can say which is meant.
    tools = {
        tool.name: tool
        for tool in subject.tool_views
        if tool.name and names[tool.name] == 1 and _has_known_parameters(subject, tool)
    }
    if not tools:
        return None

    blamed: set[Route] = set()
    spellings = Spellings(subject)

    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        steps = record.value.get("solution")
        if not steps:
            return None
        found: list[Finding] | None = None
        for index, step in enumerate(steps):
            name = step.get("tool")
            if name not in tools:
                continue
            compiled, args = tools[name].compiled, step.get("args", {})
            if compiled is not None and not compiled.is_valid(args):
                route = ("tasks", record.index, "solution", index)
                found = found or []
                for each in _findings(tools[name], compiled.faults(args), step, route, spellings):
                    if each.route not in blamed:
                        found.append(each)
                    if each.route[:1] == ("config",):
                        blamed.add(each.route)
        return found

    return judge


def _has_known_parameters(subject: Subject, tool: ToolView) -> bool:
    """Whether all parameters are known; where none are declared, they are those of texts that can be understood."""
    return tool.parameters.form != "inferred" or (tool.is_understood and subject.is_sound(*tool.route))


def _findings(
    tool: ToolView, faults: Iterable[SchemaFault], step: dict[str, Any], route: Route, spellings: Spellings
) -> Iterator[Finding]:
    args = step.get("args", {})
    surplus = [name for name in args if name not in tool.parameters.names] if isinstance(args, dict) else []
    for fault in faults:
        below = fault.path
        here = (*route, "args", *below)
        name = quoted(write(below)) if below else "args"
        if fault.keyword == "required":
            missing = str(fault.wanted[0])
            # What is misspelt is told as a name that the tool does not take, or as a key that the step does not have.
            if below or (closest(missing, surplus) is None and not _may_stand_elsewhere(step)):
                yield Finding(
                    here if "args" in step else (*route, "tool"),
                    f"The call of {tool} does not give {quoted(write([*below, missing]))}, which it has to.",
                    f"Its arguments are {listed(tool.parameters.names)}."
                    if not below
                    else f"Add {quoted(missing)} there.",
                    at="key" if "args" in step else "value",
                )
        elif fault.keyword in ("additionalProperties", "unevaluatedProperties"):
            known = _known(tool, below)
            for unknown in fault.wanted:
                if not below and unknown in tool.undeclared:
                    continue
                if not below and (culprit := spellings.misspelt(tool, unknown)) is not None:
                    read, certain = culprit
                    yield _blamed(tool, read, unknown, (*here, unknown), certain=certain)
                    continue
                near = closest(unknown, known or ())
                takes = f"It takes {listed(known)}." if known else "It takes no arguments."
                yield Finding(
                    (*here, unknown),
                    f"The tool {tool} takes no argument {quoted(write([*below, unknown]))}.",
                    suggestion(near, unknown) if near else takes if known is not None else None,
                    at="key",
                )
        elif fault.keyword == "type":
            takes = " or ".join(_KINDS.get(each, each) for each in fault.wanted)
            given = f"{show(fault.found, 40)}, {kind(fault.found)}"
            yield Finding(
                here, f"{name} is {given}; the tool {tool} takes {takes}.", _as_wanted(fault, takes)
            )
        elif fault.keyword == "enum":
            values = [show(each) for each in fault.wanted]
            near = closest(str(fault.found), [each for each in fault.wanted if isinstance(each, str)])
            takes = f"It takes {', '.join(values[:8])}{', …' if len(values) > 8 else ''}."
            yield Finding(
                here,
                f"{name} is {show(fault.found, 40)}, which the tool {tool} does not take.",
                suggestion(near, str(fault.found)) if near else takes,
            )
        else:
            yield Finding(
                here,
                f"The tool {tool} does not take these arguments: {name} {fault.words}.",
                "Give what its paramsSchema asks for, or mend that.",
            )


def _blamed(tool: ToolView, read: Read, given: str, route: Route, *, certain: bool) -> Finding:
    used = write(("args", *read.steps))
    written = read.instead(write(("args", given, *read.steps[1:])))
    return Finding(
        read.route,
        f"The tool {tool} takes an argument {quoted(str(read.steps[0]))} because of this, and solutions give "
        f"{quoted(given)}.",
        suggestion(written, read.text or used)
        if certain
        else f"Write {quoted(written)} here if the solutions have it right, or else correct them.",
        at=read.at,
        see=((route, "one of them"),),
    )


def _as_wanted(fault: SchemaFault, takes: str) -> str:
    """The way out for a value of the wrong type: the same with or without quotes, where that is all."""
    found = fault.found
    if isinstance(found, str) and {"number", "integer"} & set(fault.wanted):
        try:
            float(found)
        except ValueError:
            return f"Give {takes}."
        return f"Write {found.strip()} without quotes."
    if isinstance(found, int | float) and "string" in fault.wanted:
        text = show(found)
        return "Write it in quotes." if text.endswith("…") else f'Write "{text}", in quotes.'
    return f"Give {takes}."


def _may_stand_elsewhere(step: dict[str, Any]) -> bool:
    """Whether a step without ``args`` has a key that it does not take, under which the arguments may be."""
    return "args" not in step and any(key != "tool" and not key.startswith("x-") for key in step)


def _known(tool: ToolView, below: Route) -> list[str] | None:
    """The names that the part of the arguments at ``below`` may have; None where that is not plain to see."""
    here: Any = tool.parameters.schema
    for step in below:
        if not isinstance(here, dict):
            return None
        properties = here.get("properties")
        here = here.get("items") if isinstance(step, int) else get(properties or {}, (step,))
        if isinstance(here, dict) and isinstance(here.get("$ref"), str):
            here = resolve(here["$ref"], tool.parameters.schema)
    return list(here.get("properties", {})) if isinstance(here, dict) else None
