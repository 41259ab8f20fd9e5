"""A page for each JSON Schema: its keys, what they take and what they mean, as the schema says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pages import NOTICE
from pages.markdown import code, fence, table
from rollout.source.contract import schema, schema_names

INTRODUCTION = """The format's contract, as JSON Schema 2020-12. `rollout schema NAME` prints one. An editor
that finds its address on a file's first line (`# yaml-language-server: $schema=…`) completes and explains
the keys."""


def pages(root: Path) -> dict[str, str]:
    names = schema_names()
    return {"schemas.md": _index(names)} | {f"schemas/{name}.md": _page(name) for name in names}


def _index(names: tuple[str, ...]) -> str:
    rows = [[f"[{name}](schemas/{name}.md)", schema(name)["description"]] for name in names]
    return (
        "\n\n".join(
            [
                "# Schemas",
                NOTICE,
                INTRODUCTION,
                table(["schema", "what it describes"], rows),
            ]
        )
        + "\n"
    )


def _page(name: str) -> str:
    whole = schema(name)
    parts = [f"# {whole['title']}", NOTICE, *_object(whole, whole)]
    for key, definition in whole.get("$defs", {}).items():
        if _is_object(definition):
            shape = _shape(definition)
            described = {**definition, **{part: shape[part] for part in shape if part != "description"}}
            parts += [f"## {key}", *_object(described, whole)]
    return "\n\n".join(parts) + "\n"


def _is_object(definition: Any) -> bool:
    return isinstance(definition, dict) and "properties" in _shape(definition)


def _shape(definition: dict[str, Any]) -> dict[str, Any]:
    """The part that has the keys: of what may also be something shorter, such as a text, it is the ``else``."""
    longer = definition.get("else")
    return longer if "properties" not in definition and isinstance(longer, dict) else definition


def _object(described: dict[str, Any], whole: dict[str, Any]) -> list[str]:
    parts = [described["description"]] if "description" in described else []
    required = described.get("required", [])
    rows = [
        [
            code(key),
            _type(value, whole),
            "yes" if key in required or "x-required" in value else "",
            _meaning(value, whole),
        ]
        for key, value in described.get("properties", {}).items()
        if value is not True
    ]
    if rows:
        parts.append(table(["key", "takes", "required", "meaning"], rows))
    if examples := described.get("examples"):
        parts.append(fence(json.dumps(examples[0], ensure_ascii=False, indent=2), "json"))
    return parts


def _resolve(value: Any, whole: dict[str, Any]) -> tuple[dict[str, Any], str | None]:
    """What a property says, with what it refers to filled in, and the name of the definition where that is one here.

    What is in another schema has no name here; it is filled in all the same, but for a schema that is referred to as
    a whole, which has a page of its own.
    """
    if not isinstance(value, dict):
        return {}, None
    other, _, pointer = value.get("$ref", "").partition("#/")
    if not pointer:
        return value, None
    home = schema(other.removesuffix(".schema.json")) if other else whole
    target: Any = home
    for step in pointer.split("/"):
        target = target[step]
    if other and "$ref" in target:
        target, _ = _resolve(target, home)
    name = pointer.removeprefix("$defs/") if not other and pointer.startswith("$defs/") else None
    return {**{key: each for key, each in target.items() if key != "$ref"}, **value}, name


def _type(value: Any, whole: dict[str, Any]) -> str:
    resolved, name = _resolve(value, whole)
    if name is not None and _is_object(resolved):
        return f"[{name}](#{name.lower()})"
    if "const" in resolved:
        return code(json.dumps(resolved["const"], ensure_ascii=False))
    if "enum" in resolved:
        return ", ".join(code(json.dumps(member, ensure_ascii=False)) for member in resolved["enum"])
    for union in ("oneOf", "anyOf"):
        kinds = [_type(member, whole) for member in resolved.get(union, ())]
        if any(kinds):
            return " or ".join(dict.fromkeys(kind for kind in kinds if kind))
    if resolved.get("$ref"):
        target = resolved["$ref"].rpartition("/")[2]
        if target.endswith(".schema.json"):
            stem = target.removesuffix(".schema.json")
            return f"[{stem}]({stem}.md)"
    kind = resolved.get("type")
    if kind == "array":
        items = _type(resolved.get("items", {}), whole)
        return f"array of {items}" if items else "array"
    if kind == "object" and isinstance(inner := resolved.get("additionalProperties"), dict):
        members = _type(inner, whole)
        return f"object of {members}" if members else "object"
    return " or ".join(kind) if isinstance(kind, list) else kind or "any value"


def _meaning(value: Any, whole: dict[str, Any]) -> str:
    resolved, _ = _resolve(value, whole)
    words = resolved.get("description", "")
    if "default" in resolved and "unless given" not in words:
        words += f" Unless given: {code(json.dumps(resolved['default'], ensure_ascii=False))}."
    if examples := resolved.get("examples"):
        shown = json.dumps(examples[0], ensure_ascii=False)
        if len(shown) <= 60:
            words += f" For example {code(shown)}."
    return words.strip()
