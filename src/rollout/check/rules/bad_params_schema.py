"""A tool's `paramsSchema` is not a valid JSON Schema.

Model providers check the schema of every tool before the model sees it, and refuse the whole request when one is
wrong. What they let pass, such as a misspelt `type`, leaves the arguments unchecked. Parameters are written as types
(`{order_id: string}`), as a JSON Schema for each (`{amount: {type: number, minimum: 0}}`), or as one whole JSON Schema.

Before:

    paramsSchema:
      amount: {type: float, minimum: "0"}

After:

    paramsSchema:
      amount: {type: number, minimum: 0}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rollout.check.finding import Finding
from rollout.check.json_schemas import schema_findings
from rollout.check.subject import Subject
from rollout.check.tool_view import ToolView
from rollout.diagnostics import Severity
from rollout.language.user_schema import UserSchemaError, compile_schema
from rollout.source.place import Route

CODE = "RL328"
SEVERITY = Severity.ERROR

_PATTERN = "Patterns are in the dialect of JavaScript here; see that every bracket that opens also closes."


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        written = tool.item.value.get("paramsSchema")
        if not isinstance(written, dict):
            continue
        route = (*tool.route, "paramsSchema")
        found: list[Finding] = []
        # Read as the shorthand, a whole schema whose type is wrong has as many faults as keys; it has one.
        meant_whole = tool.parameters.form != "json-schema" and _is_meant_whole(written)
        if not meant_whole:
            for fault in tool.parameters.faults:
                found.append(Finding((*route, *fault.route), fault.message, fault.hint))
        told = {finding.route for finding in found}
        found += [finding for finding in _judge_schemas(tool, route) if finding.route not in told]
        if not found and not meant_whole and (refusal := _refused(tool)) is not None:
            below, reason = refusal
            found.append(
                Finding(
                    (*route, *below),
                    f"The parameters of the tool {tool} cannot be checked: {reason}.",
                    _PATTERN if below[-1:] == ("pattern",) else "Write it otherwise, or leave it out.",
                )
            )
        yield from found


def _judge_schemas(tool: ToolView, route: Route) -> Iterator[Finding]:
    written = tool.item.value["paramsSchema"]
    if tool.parameters.form == "json-schema" or _is_meant_whole(written):
        parts: list[tuple[Route, Any]] = [(route, written)]
        root = written
    else:
        parts = [((*route, name), value) for name, value in written.items() if isinstance(value, dict)]
        root = tool.parameters.schema
    for at, part in parts:
        yield from schema_findings(part, at, root)


def _is_meant_whole(written: dict[str, Any]) -> bool:
    """Whether only the word in ``type`` is wrong; other formats say “dict” for an object."""
    return isinstance(written.get("properties"), dict) and isinstance(written.get("required"), list)


def _refused(tool: ToolView) -> tuple[Route, str] | None:
    try:
        compile_schema(tool.parameters.schema)
    except UserSchemaError as error:
        below = error.route
        if tool.parameters.form != "json-schema" and below[:1] == ("properties",):
            below = below[1:]
        return below, error.sentence
    return None
