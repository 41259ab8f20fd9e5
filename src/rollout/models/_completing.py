"""What a line that a person types may go on with: tools, commands, parameters, and values that they can know.

Values come from the tool's schema (an enum, true and false, examples) and from what the conversation has shown; never
from what an agent is not shown.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rollout.diagnostics._visible import visible
from rollout.models._seat import Completion
from rollout.models._seen import values, words
from rollout.models._typed import acceptance, bare_value, parameter, tool_in
from rollout.templates import Tool

_BARE = re.compile(r"[^\s\"'{}\[\]<][^\s]*")
_MOST = 200
_LONGEST = 120
_DEEPEST = 8


def complete(
    line: str, tools: Sequence[Tool], commands: Sequence[str], messages: Sequence[Mapping[str, Any]]
) -> Completion:
    """The words that the last one of ``line`` may become."""
    start = len(line) - len(line.lstrip())
    begun = line[start:]
    tool = tool_in(begun, tools)
    if tool is None or len(begun) == len(tool.name):
        return Completion(start, _fitting(begun, _openings(begun, tools, commands)))
    typed = begun[len(tool.name) :]
    if typed.lstrip().startswith(("{", "(")):
        return Completion(len(line), [])
    at = _last_word(typed)
    word = typed[at:]
    start += len(tool.name) + at
    name, equals, _ = word.partition("=")
    if equals:
        spelled = (f"{name}={each} " for each in _spelled(tool, name, _values(tool, name, messages)))
        return Completion(start, _fitting(word, spelled))
    given = set(re.findall(r"(?:^|\s)([^\s=]+)=", typed[:at]))
    return Completion(start, _fitting(word, (f"{each}=" for each in parameters(tool) if each not in given)))


def parameters(tool: Tool) -> list[str]:
    """The names of a tool's parameters, those first that have to be given."""
    properties = tool.parameters.get("properties")
    names = list(properties) if isinstance(properties, dict) else []
    wanted = tool.parameters.get("required")
    needed = [name for name in names if isinstance(wanted, list) and name in wanted]
    return needed + [name for name in names if name not in needed]


def _openings(begun: str, tools: Sequence[Tool], commands: Sequence[str]) -> Iterator[str]:
    first, blank, _ = begun.partition(" ")
    if blank and first.removeprefix("/") in ("help", "tools"):
        yield from (f"{first} {tool.name}" for tool in tools)
        return
    yield from (f"{tool.name} " for tool in tools)
    slash = "/" if begun.startswith("/") else ""
    yield from (f"{slash}{command} " for command in commands)


def _last_word(typed: str) -> int:
    """Where the word begins that the cursor is in; a blank in quotes does not end one."""
    quote, start, escaped = "", 0, False
    for at, character in enumerate(typed):
        if escaped:
            escaped = False
        elif quote:
            escaped = character == "\\" and quote == '"'
            quote = "" if character == quote else quote
        elif character in "\"'" and typed[at - 1 : at] == "=":
            quote = character
        elif character.isspace():
            start = at + 1
    return start


def _values(tool: Tool, name: str, messages: Sequence[Mapping[str, Any]]) -> Iterator[Any]:
    told = list(_told(parameter(tool, name), tool.parameters))
    closed = [value for is_all, value in told if is_all]
    if closed:
        yield from closed
        return
    accepts = acceptance(tool, name)
    yield from (value for _, value in told)
    for value in (*values(messages, name), *(bare_value(tool, name, word) for word in words(messages))):
        if accepts(value):
            yield value
        elif not isinstance(value, str) and accepts(str(value)):
            yield str(value)


def _told(schema: Any, root: Mapping[str, Any], depth: int = 0) -> Iterator[tuple[bool, Any]]:
    """The values that a schema names, and whether there are no others."""
    if not isinstance(schema, dict) or depth > _DEEPEST:
        return
    if isinstance(enum := schema.get("enum"), list):
        yield from ((True, value) for value in enum)
    if "const" in schema:
        yield True, schema["const"]
    kinds = schema.get("type")
    if kinds == "boolean" or (isinstance(kinds, list) and "boolean" in kinds):
        yield from ((kinds == "boolean", value) for value in (True, False))
    if "default" in schema:
        yield False, schema["default"]
    if isinstance(examples := schema.get("examples"), list):
        yield from ((False, value) for value in examples)
    for word in ("anyOf", "oneOf", "allOf"):
        branches = schema.get(word)
        for branch in branches if isinstance(branches, list) else ():
            # What one branch allows is not all there is.
            yield from ((False, value) for _, value in _told(branch, root, depth + 1))
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith(("#/$defs/", "#/definitions/")):
        _, shared, key = reference.split("/", 2)
        named = root.get(shared)
        yield from _told(named.get(key) if isinstance(named, dict) else None, root, depth + 1)


def _spelled(tool: Tool, name: str, found: Iterator[Any]) -> Iterator[str]:
    """Values as they are typed: without quotes where they are read as what they are."""
    for value in found:
        if isinstance(value, dict | list):
            continue
        bare = value if isinstance(value, str) else json.dumps(value)
        if _BARE.fullmatch(bare) and _same(bare_value(tool, name, bare), value):
            yield bare
        elif isinstance(value, str):
            yield json.dumps(value, ensure_ascii=False)


def _same(one: Any, other: Any) -> bool:
    return type(one) is type(other) and bool(one == other)


def _fitting(begun: str, offered: Iterator[str]) -> list[str]:
    """Those that begin as typed, each once; none with a character that a terminal would obey."""
    fitting = (
        word
        for word in offered
        if word.startswith(begun) and word != begun and len(word) <= _LONGEST and visible(word) == word
    )
    return list(dict.fromkeys(word for word, _ in zip(fitting, range(_MOST), strict=False)))


__all__ = ["complete", "parameters"]
