"""What is wrong with a JSON Schema that an author wrote: what its draft does not allow, and where it points."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from rollout.check.finding import Finding
from rollout.check.wording import closest, listed, quoted, suggestion
from rollout.language.compare import show
from rollout.language.params_schema import TYPES
from rollout.language.paths import get, kind
from rollout.language.user_schema import SchemaFault, draft_of, resolve, schema_faults
from rollout.source.place import Route

_MEANT = {
    "str": "string",
    "text": "string",
    "char": "string",
    "date": "string",
    "int": "integer",
    "long": "integer",
    "float": "number",
    "double": "number",
    "decimal": "number",
    "bool": "boolean",
    "dict": "object",
    "map": "object",
    "hash": "object",
    "list": "array",
    "tuple": "array",
    "set": "array",
    "none": "null",
}

_KINDS = {
    "array": "a list",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "object": "an object",
    "string": "a text",
}


def schema_findings(part: dict[str, Any], route: Route, root: dict[str, Any]) -> Iterator[Finding]:
    """What is wrong with ``part``, which stands at ``route``; its references are looked up in ``root``."""
    yield from _against_meta_schema(part, route)
    yield from _unresolved(part, route, root)


def _against_meta_schema(part: dict[str, Any], route: Route) -> Iterator[Finding]:
    part = dict(part)
    named = part.get("$schema")
    if named is not None and draft_of(named) is None:
        yield Finding(
            (*route, "$schema"),
            f"“$schema” is {show(named, 80)}, which is no draft of JSON Schema that is known.",
            "Leave it out for the newest draft, or name one, such as http://json-schema.org/draft-07/schema.",
        )
        del part["$schema"]
    told: set[Route] = set()
    for fault in schema_faults(part):
        for each in _by_member(fault):
            if each.path not in told:
                told.add(each.path)
                message, hint = _word(each)
                yield Finding((*route, *each.path), message, hint)


def _by_member(fault: SchemaFault) -> Iterator[SchemaFault]:
    """The same fault; of a list of types, one for each that is none."""
    if fault.path[-1:] == ("type",) and isinstance(fault.found, list):
        wrong = [index for index, each in enumerate(fault.found) if each not in (*TYPES, "null")]
        if wrong:
            for index in wrong:
                yield replace(fault, path=(*fault.path, index), found=fault.found[index])
            return
    yield fault


def _word(fault: SchemaFault) -> tuple[str, str | None]:
    below, found = fault.path, fault.found
    keyword = below[-1] if below else ""
    if keyword == "type" or (len(below) > 1 and below[-2] == "type"):
        names = (*TYPES, "null")
        hint = f"The types are {listed(names)}."
        if isinstance(found, str):
            near = _MEANT.get(found.lower()) or closest(found, names)
            return (
                f"{quoted(found)} is not a type of JSON Schema.",
                f"Did you mean {quoted(near)}?" if near else hint,
            )
        if isinstance(found, list) and found and all(each in names for each in found):
            return (
                "A “type” that is a list of types names each of them once.",
                "Take out the one that is there twice.",
            )
        return f"A “type” names a type, or a list of types; this is {kind(found)}.", hint
    where = quoted(str(keyword)) if isinstance(keyword, str) and keyword else "This"
    if fault.keyword != "type":
        return f"{where} {fault.words}; JSON Schema does not allow that there.", _instead(fault)
    kinds = [str(each) for each in fault.wanted]
    if set(kinds) == {"object", "boolean"}:
        meant = _MEANT.get(str(found).lower(), "string")
        return f"{where} is {kind(found)}, not a JSON Schema.", f"Write one, such as {{type: {meant}}}."
    if keyword == "required" and isinstance(found, bool):
        hint = "“required” is the list of the names that must be given; in a tool, optional: true lets one be left out."
        return "“required” of a JSON Schema is a list of names, not true or false.", hint
    return (
        f"{where} is {kind(found)}; JSON Schema has {' or '.join(_KINDS.get(each, each) for each in kinds)} there.",
        _of_kind(found, kinds),
    )


def _instead(fault: SchemaFault) -> str:
    """The way out for a value of the right type that its keyword does not take."""
    limit = show(fault.wanted[0]) if len(fault.wanted) == 1 else ""
    if fault.keyword == "minimum":
        return f"Write {limit} or more, or leave it out."
    if fault.keyword == "exclusiveMinimum":
        return f"Write more than {limit}, or leave it out."
    if fault.keyword == "minItems":
        return "Put something into it, or leave it out."
    if fault.keyword == "uniqueItems":
        return "Take out what is there twice."
    if fault.keyword == "enum":
        return f"Write {listed([str(each) for each in fault.wanted], 'or')}, or leave it out."
    return "Write what JSON Schema takes there, or leave it out."


def _of_kind(found: Any, kinds: list[str]) -> str:
    """The way out for a value of the wrong type: the same without quotes where it was only quoted."""
    if isinstance(found, str) and found.strip().lower() in ("true", "false") and "boolean" in kinds:
        return f"Write {found.strip().lower()} without quotes."
    if isinstance(found, str) and {"number", "integer"} & set(kinds):
        try:
            float(found)
        except ValueError:
            return "Write a number, or leave it out."
        return f"Write {found.strip()} without quotes."
    return f"Write {' or '.join(_KINDS.get(each, each) for each in kinds)}, or leave it out."


def _unresolved(part: Any, route: Route, root: dict[str, Any]) -> Iterator[Finding]:
    pending: list[tuple[Route, Any]] = [(route, part)]
    while pending:
        at, value = pending.pop()
        if isinstance(value, dict):
            target = value.get("$ref")
            is_name = at[-1] in ("properties", "$defs", "definitions")
            if isinstance(target, str) and not is_name and resolve(target, root) is None:
                yield Finding(
                    (*at, "$ref"),
                    f"“$ref” points to {quoted(target)}, which is not in this schema.",
                    _reference_hint(target, root),
                )
            pending.extend(
                ((*at, key), member)
                for key, member in value.items()
                if key not in ("const", "enum", "default", "examples")
            )
        elif isinstance(value, list):
            pending.extend(((*at, index), member) for index, member in enumerate(value))


def _reference_hint(target: str, root: dict[str, Any]) -> str:
    if not target.startswith("#"):
        return "A schema has to hold all it uses: copy the definition into “$defs”."
    defined = [
        f"#/{home}/{name}"
        for home in ("$defs", "definitions")
        for name in (get(root, (home,)) or ())
        if isinstance(root.get(home), dict)
    ]
    if (near := closest(target, defined)) is not None:
        return suggestion(near, target)
    if defined:
        return f"There are {listed(defined)}."
    return "Only a whole JSON Schema can hold definitions to point to, in its “$defs”."


__all__ = ["schema_findings"]
