"""Which parameter a tool most likely meant where it uses one that it does not declare."""

from __future__ import annotations

from rollout.check.tool_view import ToolView
from rollout.check.wording import closest

_PLAIN = {
    "string": "a text",
    "number": "a number",
    "integer": "a number",
    "boolean": "true or false",
    "null": "null",
}


def parameter_meant(tool: ToolView, name: str, *, within: bool = False) -> str | None:
    """The declared parameter that ``name`` stands for, rather one that nothing else uses; None where none is likely.

    ``within`` says that something inside of it is used: what is only a text or a number was not meant then.
    """
    used = {each.steps[0] for each in tool.reads if each.root == "args" and each.steps}
    unused = [each for each in tool.parameters.names if each not in used]
    near = closest(name, unused)
    if near is None and len(unused) == 1 and not tool.takes_arguments_whole:
        # No two are left to choose from.
        return None if within and plain_kind(tool, unused[0]) is not None else unused[0]
    return near or closest(name, tool.parameters.names)


def plain_kind(tool: ToolView, name: str) -> str | None:
    """What the declared parameter is, in words, where that has no parts; None where it may have."""
    parameter = tool.parameters.schema["properties"][name]
    kind = parameter.get("type") if isinstance(parameter, dict) else None
    return _PLAIN.get(kind) if isinstance(kind, str) else None


__all__ = ["parameter_meant", "plain_kind"]
