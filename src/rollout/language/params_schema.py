"""``paramsSchema``: what a tool's parameters are, from the platform's shorthand to a whole JSON Schema.

Three forms are read: ``{order_id: string, amount: number}`` (all required); a JSON Schema for a parameter,
``{amount: {type: number, minimum: 0}}``, where ``optional: true`` takes it out of ``required``; and a whole JSON Schema
object (``type: object`` with ``properties``), which is passed on as it is. Without one, the parameters of a tool are
those that its ``${args.…}`` placeholders, its expressions and its ``matchField`` name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rollout.language.placeholders import spots
from rollout.language.tool_texts import expressions, templates

if TYPE_CHECKING:
    from rollout.language.cel_tokens import Name

TYPES: Final = ("array", "boolean", "integer", "number", "object", "string")
"""The types that the shorthand knows."""


@dataclass(frozen=True, slots=True)
class ParameterFault:
    """A part of a ``paramsSchema`` that says nothing: its route below ``paramsSchema``, and the words."""

    route: tuple[str | int, ...]
    message: str
    hint: str


@dataclass(frozen=True, slots=True)
class Parameters:
    """A tool's parameters as one JSON Schema object, as a model is shown it.

    ``form`` says how it was written. A parameter with a fault takes any value, so that one mistake is told once.
    """

    schema: dict[str, Any]
    form: str
    faults: tuple[ParameterFault, ...] = ()

    @property
    def names(self) -> tuple[str, ...]:
        """The parameters that are declared by name."""
        properties = self.schema.get("properties")
        return tuple(properties) if isinstance(properties, dict) else ()

    @property
    def is_open(self) -> bool:
        """Whether arguments beside the declared ones are accepted."""
        return self.schema.get("additionalProperties", True) is not False


def read_parameters(tool: Mapping[str, Any]) -> Parameters:
    """The parameters of a tool as it is declared in a config; never raises."""
    written = tool.get("paramsSchema")
    if written is None:
        return _inferred(tool)
    if not isinstance(written, dict):
        fault = ParameterFault((), "paramsSchema is not an object.", "Write {order_id: string}.")
        return Parameters({"type": "object", "properties": {}}, "shorthand", (fault,))
    if is_whole_schema(written):
        return Parameters(written, "json-schema", tuple(_whole_faults(written["properties"])))
    return _shorthand(written)


def parameters(tool: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON Schema object of a tool's parameters: :func:`read_parameters` without its faults."""
    return read_parameters(tool).schema


def is_whole_schema(written: Mapping[str, Any]) -> bool:
    """Whether a ``paramsSchema`` is a JSON Schema itself, not parameters called ``type`` and ``properties``."""
    properties = written.get("properties")
    return (
        written.get("type") == "object"
        and isinstance(properties, dict)
        and not isinstance(properties.get("type"), str)
    )


def _whole_faults(properties: Mapping[str, Any]) -> Iterator[ParameterFault]:
    for name, schema in properties.items():
        if not isinstance(schema, dict | bool):
            yield ParameterFault(
                ("properties", name),
                f"Parameter “{name}” has no JSON Schema.",
                f"Inside a whole JSON Schema the shorthand is not read; write {{type: {_type_word(schema)}}}.",
            )


def _type_word(value: Any) -> str:
    return value if value in TYPES else "string"


def _shorthand(written: Mapping[str, Any]) -> Parameters:
    properties: dict[str, Any] = {}
    required: list[str] = []
    faults: list[ParameterFault] = []
    for name, value in written.items():
        if isinstance(value, dict):
            properties[name] = {key: member for key, member in value.items() if key != "optional"}
            optional = value.get("optional", False)
            if not isinstance(optional, bool):
                faults.append(
                    ParameterFault(
                        (name, "optional"), "“optional” is neither true nor false.", "Write optional: true."
                    )
                )
            if optional is True:
                continue
        elif isinstance(value, str) and value in TYPES:
            properties[name] = {"type": value}
        else:
            properties[name] = {}
            faults.append(_unknown_type(name, value))
        required.append(name)
    return Parameters(_closed(properties, required), "shorthand", tuple(faults))


def _unknown_type(name: str, value: Any) -> ParameterFault:
    hint = f"The types are {', '.join(TYPES)}; a JSON Schema may stand here too."
    if not isinstance(value, str):
        return ParameterFault((name,), f"Parameter “{name}” has no type.", hint)
    if (meant := _ALIASES.get(value.rstrip("?").lower())) is not None:
        hint = f"Did you mean “{meant}”?"
        if value.endswith("?"):
            hint = f"Write {{type: {meant}, optional: true}}."
    return ParameterFault((name,), f"Parameter “{name}” is of a type that is not known: “{value}”.", hint)


_ALIASES: Final = {
    **{name: name for name in TYPES},
    "str": "string",
    "text": "string",
    "int": "integer",
    "float": "number",
    "double": "number",
    "bool": "boolean",
    "dict": "object",
    "list": "array",
}


def _inferred(tool: Mapping[str, Any]) -> Parameters:
    names: dict[str, Any] = {}
    whole = "stateArray" in tool
    for _, value in templates(tool):
        for spot in spots(value):
            for look in spot.interpolation.looks:
                if look.root == "args":
                    if look.steps:
                        names.setdefault(str(look.steps[0]), {})
                    else:
                        whole = True
    optional: set[str] = set()
    for name in _in_expressions(tool):
        if name.key is None:
            whole = True
        else:
            names.setdefault(name.key, {})
            optional |= {name.key} if name.is_asked_for else set()
    match_field = tool.get("matchField")
    if isinstance(match_field, str):
        names.setdefault(match_field, {})
    if whole:
        schema: dict[str, Any] = {"type": "object", "properties": names}
        if required := [name for name in names if name not in optional]:
            schema["required"] = required
        return Parameters(schema, "inferred")
    return Parameters(_closed(names, [name for name in names if name not in optional]), "inferred")


def _in_expressions(tool: Mapping[str, Any]) -> Iterator[Name]:
    """The arguments that the expressions of a tool look at."""
    for _, text in expressions(tool):
        from rollout.language.cel_tokens import names, tokens  # loaded only where there is an expression

        yield from names(tokens(text), ("args",))


def _closed(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "object", "properties": properties}
    if required:
        schema["required"] = required
    schema["additionalProperties"] = False
    return schema


__all__ = ["TYPES", "ParameterFault", "Parameters", "is_whole_schema", "parameters", "read_parameters"]
