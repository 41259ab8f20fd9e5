"""A schema in `paramsSchema` requires a name that its `properties` do not have.

Nothing says what such a parameter is, so a model has to guess it, and every call without it is refused. Some providers
refuse the whole request. It is most often a name that was changed in one of the two places.

Before:

    paramsSchema:
      type: object
      properties: {order_id: {type: string}}
      required: [order]

After:

    paramsSchema:
      type: object
      properties: {order_id: {type: string}}
      required: [order_id]
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.tool_view import ToolView
from rollout.check.wording import closest, listed, quoted, suggestion
from rollout.diagnostics import Severity
from rollout.source.place import Route

CODE = "RL348"
SEVERITY = Severity.ERROR

# With one of these the names may be declared elsewhere, or any name be meant.
_OPEN = frozenset(
    {"additionalProperties", "unevaluatedProperties", "patternProperties", "$ref", "$dynamicRef", "allOf"}
    | {"anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "dependencies"}
)
_ONE = ("items", "additionalItems", "additionalProperties", "contains", "propertyNames", "unevaluatedItems")
_LISTS = ("items", "prefixItems")
_MAPS = ("properties", "patternProperties")
_DEFINITIONS = ("$defs", "definitions")


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        written = tool.item.value.get("paramsSchema")
        if not isinstance(written, dict):
            continue
        route = (*tool.route, "paramsSchema")
        if tool.parameters.form == "json-schema":
            yield from _judge(tool, written, route)
        else:
            for name, schema in written.items():
                yield from _judge(tool, schema, (*route, name))


def _judge(tool: ToolView, schema: Any, route: Route) -> Iterator[Finding]:
    pending: list[tuple[Any, Route]] = [(schema, route)]
    # A definition may be a part of another schema, which declares the rest of the names.
    kept = () if _is_composed(schema) else _DEFINITIONS
    while pending:
        node, at = pending.pop()
        if not isinstance(node, dict):
            continue
        yield from _undeclared(tool, node, at)
        for key in _ONE:
            pending.append((node.get(key), (*at, key)))
        for key in _LISTS:
            if isinstance(node.get(key), list):
                pending += [(each, (*at, key, index)) for index, each in enumerate(node[key])]
        for key in (*_MAPS, *kept):
            if isinstance(node.get(key), dict):
                pending += [(each, (*at, key, name)) for name, each in node[key].items()]


def _undeclared(tool: ToolView, node: dict[str, Any], at: Route) -> Iterator[Finding]:
    properties, required = node.get("properties"), node.get("required")
    if not isinstance(properties, dict) or not isinstance(required, list) or _OPEN & node.keys():
        return
    free = [name for name in properties if name not in required]
    for index, name in enumerate(required):
        if isinstance(name, str) and name not in properties:
            near = closest(name, free) or closest(name, list(properties))
            known = f"There are {listed(list(properties))}. " if properties else ""
            yield Finding(
                (*at, "required", index),
                f"The tool {tool} requires {quoted(name)}, which “properties” does not have.",
                suggestion(near, name) if near else f"{known}Add it to “properties”, or take it out.",
            )


def _is_composed(schema: Any) -> bool:
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            if "allOf" in node or ("properties" in node and (_OPEN - {"additionalProperties"}) & node.keys()):
                return True
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)
    return False
