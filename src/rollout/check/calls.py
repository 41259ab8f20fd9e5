"""What keeps an expected call from ever being made: a tool that there is not, or arguments that its tool refuses."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from rollout.check.grading import arguments_of
from rollout.check.subject import Subject
from rollout.check.tool_view import ToolView
from rollout.check.wording import closest, listed, quoted, suggestion
from rollout.language.paths import write
from rollout.language.user_schema import SchemaFault
from rollout.source.place import At, Route

ARGUMENTS = ("args", "anyOf", "optional")
"""The keys of an expected call that name arguments."""


@dataclass(frozen=True, slots=True)
class Unmakeable:
    """Why no call is the expected one, and the part of it that makes it so; ``hint`` is the way out."""

    why: str
    below: Route
    at: At = "value"
    hint: str | None = None


def known_tools(subject: Subject) -> dict[str, ToolView]:
    """The tools whose parameters are all known, by name; of two with one name nobody can say which is meant."""
    counts = Counter(view.name for view in subject.tool_views)
    return {
        view.name: view
        for view in subject.tool_views
        if view.name and counts[view.name] == 1 and _has_known_parameters(subject, view)
    }


def _has_known_parameters(subject: Subject, tool: ToolView) -> bool:
    """Whether a call may have no other arguments: where none are declared, those of texts that can be understood."""
    if tool.parameters.form != "inferred":
        return tool.is_declared and not tool.parameters.faults
    return not tool.parameters.is_open and tool.is_understood and subject.is_sound(*tool.route)


def named_twice(call: dict[str, Any]) -> Unmakeable | None:
    """The argument that an expected call has in two of its keys, so that it cannot be judged."""
    stands_in: dict[str, str] = {}
    for key, name in arguments_of(call):
        if name in stands_in:
            both = f"{quoted(stands_in[name])} and {quoted(key)}"
            why = f"a call that has {quoted(name)} in both {both} cannot be judged"
            return Unmakeable(why, (key, name), "key", "Keep it in one of them.")
        stands_in[name] = key
    return None


def unmakeable(tool: ToolView, call: dict[str, Any], *, partly: bool, tolerance: float) -> Unmakeable | None:
    """Why no call of ``tool`` is the expected one; None where there may be one.

    With ``partly`` the call, and objects among its arguments, may have more than is named.
    """
    names = tool.parameters.names
    if not any(key in call for key in ARGUMENTS):
        return None
    for key, name in arguments_of(call):
        # What may be left out keeps no call from being made.
        if key != "optional" and name not in names and name not in tool.undeclared:
            near = closest(name, names)
            return Unmakeable(
                f"the tool {tool} takes no argument {quoted(name)}",
                (key, name),
                "key",
                f"Its placeholders say {quoted(near)}: write here and there what is right."
                if near and tool.parameters.form == "inferred"
                else suggestion(near, name)
                if near
                else f"It takes {listed(names)}."
                if names
                else "It takes no arguments.",
            )
    args = call.get("args") if isinstance(call.get("args"), dict) else {}
    assert isinstance(args, dict)
    if not partly:
        given = {name for _, name in arguments_of(call)}
        missing = [name for name in tool.parameters.schema.get("required", ()) if name not in given]
        if missing:
            below: Route = ("args",) if "args" in call else ()
            return Unmakeable(
                f"every call of {tool} has to give {quoted(missing[0])} too",
                below,
                "key" if below else "value",
            )
    if (fault := refused(tool, args, partly=partly, tolerance=tolerance)) is not None:
        return fault
    any_of = call.get("anyOf")
    for name, values in any_of.items() if isinstance(any_of, dict) else ():
        found = [
            refused(tool, {name: value}, partly=partly, tolerance=tolerance)
            for value in (values if isinstance(values, list) else ())
        ]
        if found and None not in found and found[0] is not None:
            return Unmakeable(found[0].why, ("anyOf", name))
    return None


def refused(
    tool: ToolView, args: dict[str, Any], *, partly: bool = False, tolerance: float = 0
) -> Unmakeable | None:
    """What of ``args`` the tool's schema refuses, so that no call with it ever comes to the tool."""
    compiled = tool.compiled
    if compiled is None or compiled.is_valid(args):
        return None
    for fault in compiled.faults(args):
        # The call itself may have further arguments; what is said of one is said in full.
        if fault.path and fault.keyword and _is_certain(fault, partly=partly, tolerance=tolerance):
            takes = f"{quoted(write(fault.path))} {fault.words}"
            return Unmakeable(f"{tool} takes no such call: {takes}", ("args", str(fault.path[0])))
    return None


def _is_certain(fault: SchemaFault, *, partly: bool, tolerance: float) -> bool:
    """Whether what the schema has against an expected argument, it has against all that count as equal to it."""
    if isinstance(fault.found, dict | list):
        return not partly and not tolerance
    if not tolerance or isinstance(fault.found, bool) or not isinstance(fault.found, int | float):
        return True
    return fault.keyword == "type" and not {"number", "integer"} & set(fault.wanted)


__all__ = [
    "ARGUMENTS",
    "Unmakeable",
    "known_tools",
    "named_twice",
    "refused",
    "unmakeable",
]
