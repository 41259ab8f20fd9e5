"""A tool puts one thing in the place of a list.

The start state has a list there, and the tool sets it to an object, a text or a number: after the first call the list
and all that was in it are gone. `[]` at the end of a path adds to the list instead. Where one thing is meant, start
with `null` in its place.

Before:

    mutates: {path: tickets, value: {title: "${args.title}"}}
    initialState: {tickets: []}

After:

    mutates: {path: "tickets[]", value: {title: "${args.title}"}}
    initialState: {tickets: []}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rollout.check.finding import Finding
from rollout.check.rows import argument_of
from rollout.check.subject import Subject
from rollout.check.tool_view import ARGUMENTS, ToolView, follow
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.placeholders import parse

CODE = "RL349"
SEVERITY = Severity.WARNING

_KINDS = {
    "string": "a text",
    "number": "a number",
    "integer": "a number",
    "boolean": "true or false",
    "object": "an object",
}


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        for each in tool.writes:
            path = each.path
            if each.appends or not path.pieces or path.filled:
                continue
            reached, taken = follow(subject.initial_state, path)
            if taken < len(path.pieces) or not reached or not isinstance(reached[0], list):
                continue
            put = _kind(tool, each.value)
            if put is not None:
                yield Finding(
                    each.route,
                    f"The tool {tool} puts {put} in the place of the list {quoted(path.text)}.",
                    f"Write {quoted(path.text + '[]')} to add to the list; where one thing is meant, start with null.",
                )


def _kind(tool: ToolView, value: Any) -> str | None:
    """What a written value is for certain, where it is neither a list nor null."""
    if value is ARGUMENTS or value == "${args}" or isinstance(value, dict):
        return "an object"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, int | float):
        return "a number"
    if not isinstance(value, str):
        return None
    if "$" not in value:
        return "a text" if value else None
    parsed = parse(value)
    if parsed.faults:
        return None
    if parsed.whole is None:
        return "a text" if parsed.placeholders else None
    name = argument_of(value)
    properties = tool.parameters.schema.get("properties")
    schema = properties.get(name) if tool.is_declared and isinstance(properties, dict) and name else None
    kind = schema.get("type") if isinstance(schema, dict) else None
    return _KINDS.get(kind) if isinstance(kind, str) else None
