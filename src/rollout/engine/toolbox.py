"""Reads the calls a model makes: the text of the arguments, the tool they are for, and whether it takes them.

Nothing is guessed at. What is wrong is a sentence for the model, which may then try again.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import orjson

from rollout.check.wording import closest
from rollout.language.canonical import whole_numbers
from rollout.language.compare import show
from rollout.language.depth import is_deeper
from rollout.language.exact_json import load
from rollout.language.paths import write
from rollout.language.user_schema import SchemaFault, UserSchema, UserSchemaError, compile_schema
from rollout.models import Call
from rollout.templates import TemplateError, Tool

DEEPEST = 64
"""How deep arguments may be nested."""

_TOO_DEEP = f"The arguments are nested deeper than {DEEPEST} levels."
_MOST_NAMED = 3


class BadCallError(ValueError):
    """A call that does not come to its tool; its text is a sentence for the model.

    ``arguments`` are those it was read as, or None.
    """

    def __init__(self, sentence: str, arguments: dict[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.arguments = arguments


class Toolbox:
    """The tools of a stage, with a compiled schema for each; made once an environment."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = tuple(tools)
        self._schemas = {tool.name: _compiled(tool) for tool in tools}

    def read(self, call: Call) -> dict[str, Any]:
        """The arguments of a call, checked against its tool's parameters. Raises BadCallError."""
        schema = self._schemas.get(call.tool)
        if schema is None:
            raise BadCallError(self._unknown(call.tool), _arguments_or_none(call.arguments))
        args = read_arguments(call.arguments)
        if schema.is_valid(args):
            return args
        faults = [_words(fault) for fault in schema.faults(args)]
        more = f" And {len(faults) - _MOST_NAMED} more." if len(faults) > _MOST_NAMED else ""
        raise BadCallError(
            f"“{call.tool}” does not take these arguments. {' '.join(faults[:_MOST_NAMED])}{more}", args
        )

    def _unknown(self, name: str) -> str:
        names = [tool.name for tool in self.tools]
        close = closest(name[:200], names)
        meant = "" if close is None else f" Did you mean “{close}”?"
        known = ", ".join(names) or "none"
        return f"There is no tool “{name[:200]}”.{meant} The tools are: {known}."


def _compiled(tool: Tool) -> UserSchema:
    try:
        return compile_schema(tool.parameters)
    except UserSchemaError as error:
        raise TemplateError(f"The paramsSchema of “{tool.name}” is no JSON Schema: {error}.") from None


def read_arguments(text: str) -> dict[str, Any]:
    """Arguments as an object; no text, white space or null is no arguments, and 4.0 is 4. Raises BadCallError."""
    stripped = text.strip()
    if not stripped:
        return {}
    try:
        value = _load(stripped)
    except orjson.JSONDecodeError as error:
        if error.msg == "depth limit exceeded":
            raise BadCallError(_TOO_DEEP) from None
        raise BadCallError(
            f"The arguments are not JSON from character {error.pos + 1} on. Send one JSON object."
        ) from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadCallError(f"The arguments have to be a JSON object, not {show(value)}.")
    if text.count("[") + text.count("{") > DEEPEST and is_deeper(value, DEEPEST):
        raise BadCallError(_TOO_DEEP)
    read: dict[str, Any] = whole_numbers(value, in_order=False)
    return read


def _load(text: str) -> Any:
    try:
        value = load(text)
    except orjson.JSONDecodeError:
        # Some servers append an empty string to what the model wrote: {}"". Nothing but quotes is dropped.
        bare = text.rstrip("\"' \t\r\n")
        if bare != text and bare.endswith("}"):
            return _load(bare)
        raise
    if text.count(":") > 1:
        _expect_each_once(text)
    return value


def _expect_each_once(text: str) -> None:
    """Raises BadCallError for a key that comes twice in one object, of which nobody knows which is meant."""
    try:
        json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as error:
        if isinstance(error, BadCallError):
            raise


def _once(pairs: list[tuple[str, Any]]) -> None:
    keys = [key for key, _ in pairs]
    if len(keys) > len(set(keys)):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise BadCallError(f"The key {show(twice)} comes twice in the arguments. Send each key once.")


def _arguments_or_none(text: str) -> dict[str, Any] | None:
    try:
        return read_arguments(text)
    except BadCallError:
        return None


def _words(fault: SchemaFault) -> str:
    inside = f" of “{write(fault.path)}”" if fault.path else ""
    if fault.keyword == "required":
        return f"“{fault.wanted[0]}”{inside} is missing."
    if fault.keyword == "additionalProperties" and fault.wanted:
        names = ", ".join(f"“{name}”" for name in fault.wanted)
        return f"{names}{inside} {'is' if len(fault.wanted) == 1 else 'are'} not known."
    words = fault.words if len(fault.words) <= 300 else f"{fault.words[:299]}…"
    return f"{f'“{write(fault.path)}”' if fault.path else 'What they hold'} {words}."


__all__ = ["DEEPEST", "BadCallError", "Toolbox", "read_arguments"]
