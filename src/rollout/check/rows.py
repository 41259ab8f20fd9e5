"""The rows that tools can write into a list of the state: which fields, and what is in them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from rollout.check.subject import Subject
from rollout.check.tool_view import ARGUMENTS, ToolView, Write
from rollout.language.placeholders import parse

_NUMBER = (frozenset({int, float}), "a number")
_TYPES: dict[str, tuple[frozenset[type], str]] = {
    "string": (frozenset({str}), "a text"),
    "number": _NUMBER,
    "integer": _NUMBER,
    "boolean": (frozenset({bool}), "true or false"),
    "array": (frozenset({list}), "a list"),
    "object": (frozenset({dict}), "an object"),
    "null": (frozenset({type(None)}), "null"),
}


@dataclass(frozen=True, slots=True)
class RowShape:
    """What one tool writes: the fields a row may have, those it always has, and what is known of their values.

    ``refusals`` say of a value, by field, what the parameter that it comes from has against it.
    """

    tool: str
    all: frozenset[str]
    required: frozenset[str]
    types: dict[str, tuple[frozenset[type], str]] = field(default_factory=dict)
    constants: dict[str, Any] = field(default_factory=dict)
    refusals: dict[str, Callable[[Any], str | None]] = field(default_factory=dict)

    def tester(self) -> Callable[[Any], bool]:
        """A function that says whether the tool may write a row, as far as that is known."""
        constants = self.constants
        every = self.all
        has_optional = every != self.required
        names = tuple((name, name in self.required) for name in sorted(every))
        typed = tuple((name, types) for name, (types, _) in self.types.items())
        judged = tuple(self.refusals.items())

        def fits(row: Any) -> bool:
            if type(row) is not dict:
                return False
            if has_optional:
                known = 0
                for name, is_required in names:
                    if name in row:
                        known += 1
                    elif is_required:
                        return False
                if known != len(row):
                    return False
            elif row.keys() != every:
                return False
            for name, types in typed:
                if name in row and type(row[name]) not in types:
                    return False
            for name, refusal in judged:
                if name in row and refusal(row[name]) is not None:
                    return False
            return not constants or all(row.get(name, value) == value for name, value in constants.items())

        return fits

    def distance(self, row: Any) -> int:
        """How far ``row`` is from what the tool writes, to find the tool it was most likely meant for."""
        if not isinstance(row, dict):
            return 1_000
        wrong = [
            name for name, (types, _) in self.types.items() if name in row and type(row[name]) not in types
        ]
        wrong += [name for name, value in self.constants.items() if name in row and row[name] != value]
        wrong += [name for name, refusal in self.refusals.items() if name in row and refusal(row[name])]
        return len(wrong) + 3 * len(row.keys() - self.all) + 2 * len(self.required - row.keys())


def row_shapes(
    subject: Subject, *, partly: bool = False, nearly: bool = False
) -> dict[str, tuple[RowShape, ...]]:
    """The lists of the state of whose rows everything is known, with the shapes their rows can have.

    Rows of the start state are not among them. With ``partly`` a row may be given in part (``subset: true``), with
    ``nearly`` a number may be another (``tolerance``).
    """
    shapes: dict[str, list[RowShape]] = {}
    unknown: set[str] = set()
    for tool in subject.tool_views:
        for write in tool.writes:
            known = write.path.known
            if not known:
                return {}
            name = str(known[0])
            shape = (
                _shape(tool, write, partly, nearly) if write.appends and len(write.path.pieces) == 1 else None
            )
            if shape is None:
                unknown.add(name)
            else:
                shapes.setdefault(name, []).append(shape)
    return {
        name: tuple(found)
        for name, found in shapes.items()
        if name not in unknown and isinstance(subject.initial_state.get(name, []), list)
    }


def _shape(tool: ToolView, write: Write, partly: bool, nearly: bool) -> RowShape | None:
    if write.value is ARGUMENTS or write.value == "${args}":
        if tool.parameters.is_open or tool.parameters.faults or not tool.is_declared:
            return None
        required = tool.parameters.schema.get("required", [])
        names = frozenset(tool.parameters.names)
        always = (
            frozenset(each for each in required if isinstance(each, str))
            if isinstance(required, list)
            else ()
        )
        types = {name: types for name in names if (types := _declared(tool, name)) is not None}
        refusals = _refusals(tool, {name: name for name in names}, partly, nearly)
        return RowShape(
            str(tool.name), names, frozenset() if partly else frozenset(always), types, {}, refusals
        )
    if not isinstance(write.value, dict) or any("${" in key for key in write.value):
        return None
    names = frozenset(write.value)
    types, constants, arguments = {}, {}, {}
    for name, value in write.value.items():
        if isinstance(value, str) and "${" in value:
            found = types_of(tool, value)
            if found is not None:
                types[name] = found
            if (argument := argument_of(value)) is not None:
                arguments[name] = argument
        elif not isinstance(value, dict | list) and not (nearly and _is_number(value)):
            constants[name] = value
    refusals = _refusals(tool, arguments, partly, nearly)
    return RowShape(str(tool.name), names, frozenset() if partly else names, types, constants, refusals)


def argument_of(value: Any) -> str | None:
    """The argument that a written value is, whole and alone: ``x`` for ``${args.x}``."""
    whole = parse(value).whole if isinstance(value, str) else None
    return (
        str(whole.steps[0]) if whole is not None and whole.root == "args" and len(whole.steps) == 1 else None
    )


def _refusals(
    tool: ToolView, arguments: dict[str, str], partly: bool, nearly: bool
) -> dict[str, Callable[[Any], str | None]]:
    """What the parameters have against values of fields, where they say more than a type."""
    found: dict[str, Callable[[Any], str | None]] = {}
    for name, argument in arguments.items():
        judge = tool.judge_of(argument) if tool.says_more_than_type(argument) else None
        if judge is not None:
            found[name] = partial(_refusal, tool, argument, judge.is_valid, partly, nearly)
    return found


def _refusal(
    tool: ToolView, argument: str, takes: Callable[[Any], bool], partly: bool, nearly: bool, value: Any
) -> str | None:
    if takes({argument: value}):
        return None
    if (nearly and _is_number(value)) or ((partly or nearly) and isinstance(value, dict | list)):
        return None
    return tool.refusal(argument, value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def types_of(tool: ToolView, text: str) -> tuple[frozenset[type], str] | None:
    """Of which types a text is once it is filled in, and what they are called; None where that is not known."""
    parsed = parse(text)
    if parsed.faults:
        return None
    whole = parsed.whole
    if whole is None:
        return _TYPES["string"]
    if whole.root == "args" and len(whole.steps) == 1 and tool.is_declared:
        return _declared(tool, str(whole.steps[0]))
    return None


def _declared(tool: ToolView, name: str) -> tuple[frozenset[type], str] | None:
    properties = tool.parameters.schema.get("properties")
    schema = properties.get(name) if isinstance(properties, dict) else None
    kind = schema.get("type") if isinstance(schema, dict) else None
    if isinstance(kind, str):
        return _TYPES.get(kind)
    return None


__all__ = ["RowShape", "argument_of", "row_shapes", "types_of"]
