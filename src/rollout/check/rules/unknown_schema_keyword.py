"""A JSON Schema has a key that is no keyword, but comes near one.

JSON Schema ignores what it does not know. A misspelt `minimun` or `optinal` is no error to it, and says nothing. Looked
at are the `paramsSchema` of tools, and the `schema` of an `output_json`.

Before:

    paramsSchema: {amount: {type: number, minimun: 0, optinal: true}}

After:

    paramsSchema: {amount: {type: number, minimum: 0, optional: true}}
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import closest, quoted
from rollout.diagnostics import Severity
from rollout.source.place import Route

CODE = "RL346"
SEVERITY = Severity.WARNING

_OF_SCHEMAS = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
_A_SCHEMA = frozenset(
    {"items", "additionalProperties", "additionalItems", "not", "if", "then", "else", "contains"}
    | {"propertyNames", "unevaluatedItems", "unevaluatedProperties"}
)
_LISTS = frozenset({"allOf", "anyOf", "oneOf", "prefixItems", "items"})
# fmt: off
_PLAIN = frozenset({
    "$schema", "$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$vocabulary", "$comment", "title",
    "description", "default", "deprecated", "readOnly", "writeOnly", "examples", "type", "enum", "const",
    "multipleOf", "maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum", "maxLength", "minLength",
    "pattern", "maxItems", "minItems", "uniqueItems", "maxContains", "minContains", "maxProperties",
    "minProperties", "required", "dependentRequired", "dependencies", "format", "contentEncoding",
    "contentMediaType", "contentSchema", "optional", "nullable", "example",
})
# fmt: on
KEYWORDS = _OF_SCHEMAS | _A_SCHEMA | _LISTS | _PLAIN


# What other formats call them.
_MEANT = {"options": "enum", "choices": "enum", "desc": "description", "min": "minimum", "max": "maximum"}


def check(subject: Subject) -> Iterator[Finding]:
    for tool in subject.tool_views:
        written = tool.item.value.get("paramsSchema")
        if not isinstance(written, dict):
            continue
        route = (*tool.route, "paramsSchema")
        if tool.parameters.form == "json-schema":
            yield from _judge(written, route)
            continue
        for name, schema in written.items():
            yield from _judge(schema, (*route, name))
    for primitive in subject.primitives:
        if primitive.value.get("type") == "output_json":
            yield from _judge(primitive.value.get("schema"), (*primitive.route, "schema"))


def _judge(schema: Any, route: Route) -> Iterator[Finding]:
    pending: list[tuple[Any, Route]] = [(schema, route)]
    while pending:
        node, at = pending.pop()
        if not isinstance(node, dict):
            continue
        for key, value in node.items():
            if key in _OF_SCHEMAS and isinstance(value, dict):
                pending += [(each, (*at, key, name)) for name, each in value.items()]
            elif key in _LISTS and isinstance(value, list):
                pending += [(each, (*at, key, index)) for index, each in enumerate(value)]
            elif key in _A_SCHEMA:
                pending.append((value, (*at, key)))
            elif (
                key not in KEYWORDS
                and not key.startswith("x-")
                and (near := _MEANT.get(key) or closest(key, KEYWORDS))
            ):
                yield Finding(
                    (*at, key),
                    f"{quoted(key)} is no keyword of JSON Schema, so it says nothing.",
                    f"Did you mean {quoted(near)}?",
                    at="key",
                )
