"""Reads the calls a model makes: the text of the arguments, the tool they are for, and whether it takes them.

Nothing is guessed at. What is wrong is a sentence for the model, which may then try again.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches
from typing import Any

import jsonschema_rs
import orjson

from rollout.language.compare import show
from rollout.language.paths import write
from rollout.models import Call
from rollout.templates import TemplateError, Tool

DEEPEST = 64
"""How deep arguments may be nested."""

_MOST_NAMED = 3


class BadCallError(ValueError):
    """A call that does not come to its tool; its text is a sentence for the model.

    ``arguments`` are those it was read as, or None.
    """

    def __init__(self, sentence: str, arguments: dict[str, Any] | None = None) -> None:
        super().__init__(sentence)
        self.arguments = arguments


class Toolbox:
    """The tools of a stage, with a compiled validator for each; made once an environment."""

    def __init__(self, tools: Sequence[Tool]) -> None:
        self.tools = tuple(tools)
        self._validators = {tool.name: _validator(tool) for tool in tools}

    def read(self, call: Call) -> dict[str, Any]:
        """The arguments of a call, checked against its tool's parameters. Raises BadCallError."""
        validator = self._validators.get(call.tool)
        if validator is None:
            raise BadCallError(self._unknown(call.tool), _arguments_or_none(call.arguments))
        args = read_arguments(call.arguments)
        try:
            if validator.is_valid(args):
                return args
            faults = [_fault(error) for error in validator.iter_errors(args)]
        except ValueError as error:
            # A pattern of the author's that backtracks without end is cut off by the validator.
            faults = [f"They cannot be checked: {error}."]
        more = f" And {len(faults) - _MOST_NAMED} more." if len(faults) > _MOST_NAMED else ""
        raise BadCallError(
            f"“{call.tool}” does not take these arguments. {' '.join(faults[:_MOST_NAMED])}{more}", args
        )

    def _unknown(self, name: str) -> str:
        names = [tool.name for tool in self.tools]
        close = get_close_matches(name[:200], names, n=1)
        meant = f" Did you mean “{close[0]}”?" if close else ""
        known = ", ".join(names) or "none"
        return f"There is no tool “{name[:200]}”.{meant} The tools are: {known}."


def _validator(tool: Tool) -> jsonschema_rs.Validator:
    try:
        # Offline, because a $ref in a spec must not make this machine fetch an address.
        return jsonschema_rs.validator_for(
            tool.parameters,
            offline=True,
            validate_formats=False,
            pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=100_000),
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:
        raise TemplateError(
            f"The paramsSchema of “{tool.name}” is no JSON Schema: {_first_line(error)}"
        ) from None


def _first_line(error: Exception) -> str:
    return (getattr(error, "message", None) or str(error)).partition("\n")[0]


def read_arguments(text: str) -> dict[str, Any]:
    """Arguments as an object; no text, white space or null is no arguments. Raises BadCallError."""
    stripped = text.strip()
    if not stripped:
        return {}
    try:
        value = _load(stripped)
    except orjson.JSONDecodeError as error:
        raise BadCallError(
            f"The arguments are not JSON from character {error.pos + 1} on. Send one JSON object."
        ) from None
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadCallError(f"The arguments have to be a JSON object, not {show(value)}.")
    if text.count("[") + text.count("{") > DEEPEST and _depth(value) > DEEPEST:
        raise BadCallError(f"The arguments are nested deeper than {DEEPEST} levels.")
    return value


def _load(text: str) -> Any:
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        # Some servers append an empty string to what the model wrote: {}"". Nothing but quotes is dropped.
        bare = text.rstrip("\"' \t\r\n")
        if bare != text and bare.endswith("}"):
            return orjson.loads(bare)
        raise


def _arguments_or_none(text: str) -> dict[str, Any] | None:
    try:
        return read_arguments(text)
    except BadCallError:
        return None


def _depth(value: Any) -> int:
    deepest, stack = 0, [(value, 1)]
    while stack:
        container, depth = stack.pop()
        deepest = max(deepest, depth)
        members = container.values() if isinstance(container, dict) else container
        stack.extend((member, depth + 1) for member in members if isinstance(member, dict | list))
    return deepest


def _fault(error: jsonschema_rs.ValidationError) -> str:
    kind: Any = error.kind
    inside = f" of “{write(error.instance_path)}”" if error.instance_path else ""
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.Required):
        return f"“{kind.property}”{inside} is missing."
    if isinstance(kind, jsonschema_rs.ValidationErrorKind.AdditionalProperties):
        names = ", ".join(f"“{name}”" for name in kind.unexpected)
        return (
            f"{names}{inside} is not known."
            if len(kind.unexpected) == 1
            else f"{names}{inside} are not known."
        )
    path = f"“{write(error.instance_path)}”: " if error.instance_path else ""
    words = error.message if len(error.message) <= 300 else f"{error.message[:299]}…"
    return f"{path}{words}."


__all__ = ["DEEPEST", "BadCallError", "Toolbox", "read_arguments"]
