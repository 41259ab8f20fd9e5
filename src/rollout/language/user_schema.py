"""The JSON Schemas that authors write, compiled in one way wherever they are used.

A schema has to hold all it uses: nothing is fetched and no file is read, whatever its ``$ref``, ``$id`` or ``$schema``
say. Patterns are run by an engine that gives up on those that backtrack without end. What is wrong with a value, or
with the schema itself, is said in the words of JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from rollout.language.compare import show
from rollout.language.paths import Step, get, kind

if TYPE_CHECKING:
    from jsonschema_rs import ValidationError, Validator

DRAFTS: Final = (
    "http://json-schema.org/draft-04/schema",
    "http://json-schema.org/draft-06/schema",
    "http://json-schema.org/draft-07/schema",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
)
"""What ``$schema`` may say; without it a schema is read as the last of them."""

MOST_FAULTS: Final = 50
"""How many faults of one value are told; a schema can repeat itself without bound."""

_BACKTRACKS: Final = 100_000
_MOST_APPLIED: Final = 10_000
_KINDS: Final = {
    "string": "a text",
    "number": "a number",
    "integer": "a whole number",
    "boolean": "true or false",
    "array": "a list",
    "object": "an object",
    "null": "null",
}
# Keywords whose schemas are applied to the very value that their own schema is applied to.
_IN_PLACE: Final = frozenset({"allOf", "anyOf", "oneOf", "not", "if", "then", "else"})
_MAPS_IN_PLACE: Final = frozenset({"dependentSchemas", "dependencies"})


class UserSchemaError(ValueError):
    """A schema that cannot be compiled: a sentence without its full stop, and the route of what is wrong in it."""

    def __init__(self, sentence: str, route: tuple[Step, ...] = ()) -> None:
        super().__init__(sentence)
        self.sentence = sentence
        self.route = route


@dataclass(frozen=True, slots=True)
class SchemaFault:
    """What a schema has against a value.

    ``path`` is where in the value, ``keyword`` which part of the schema (``required``, ``type``, …), ``found`` what
    stands there. ``wanted`` is what the keyword asks for: the missing names, the names that are too many, the types,
    the values of an enum, or one limit. ``words`` say it all after the name of the place: “is 1, below …”.
    """

    path: tuple[Step, ...]
    keyword: str
    found: Any
    wanted: tuple[Any, ...]
    words: str


class UserSchema:
    """A compiled schema."""

    def __init__(self, validator: Validator) -> None:
        self._validator = validator

    def is_valid(self, value: Any) -> bool:
        """Whether ``value`` satisfies the schema; not when that cannot be found out."""
        try:
            return self._validator.is_valid(value)
        except (ValueError, TypeError):
            return False

    def faults(self, value: Any) -> list[SchemaFault]:
        """What is wrong with ``value``, each fault once, the first MOST_FAULTS of them; empty when it is valid."""
        try:
            return [_named(fault, value) for fault in _once(self._validator.iter_errors(value))]
        except (ValueError, TypeError) as error:
            return [SchemaFault((), "", value, (), f"cannot be checked: {_first_line(error)}")]


def compile_schema(schema: Mapping[str, Any] | bool) -> UserSchema:
    """Compiles a schema that a user wrote, in the draft that its ``$schema`` names.

    Raises UserSchemaError for one that is no JSON Schema, that points outside of itself, whose pattern is no regular
    expression, or that repeats itself so often that no value could be checked by it.
    """
    import jsonschema_rs

    written = schema if isinstance(schema, bool) else dict(schema)
    named = written.get("$schema") if isinstance(written, dict) else None
    if named is not None and draft_of(named) is None:
        raise UserSchemaError(f"“$schema” is {show(named)}, which is no draft of JSON Schema", ("$schema",))
    if _applications(written) > _MOST_APPLIED:
        raise UserSchemaError("its references repeat each other so often that checking a value would not end")
    try:
        return UserSchema(
            jsonschema_rs.validator_for(
                written,
                offline=True,
                validate_formats=False,
                pattern_options=jsonschema_rs.FancyRegexOptions(backtrack_limit=_BACKTRACKS),
            )
        )
    except jsonschema_rs.ValidationError as error:
        raise _refusal(error) from None
    except (ValueError, TypeError, jsonschema_rs.ReferencingError) as error:
        raise UserSchemaError(_first_line(error)) from None


def draft_of(named: Any) -> str | None:
    """The draft that ``$schema`` names, as DRAFTS has it; None when there is no such draft."""
    bare = named.removesuffix("#") if isinstance(named, str) else None
    return bare if bare in DRAFTS else None


def schema_faults(schema: Mapping[str, Any] | bool) -> list[SchemaFault]:
    """What the draft that ``schema`` names, or the newest, has against it as a schema; patterns are not looked at."""
    named = schema.get("$schema") if isinstance(schema, Mapping) else None
    meta = _meta_schema(draft_of(named) or DRAFTS[-1])
    try:
        return [] if meta.is_valid(schema) else _once(meta.iter_errors(schema))
    except (ValueError, TypeError) as error:
        return [SchemaFault((), "", schema, (), f"cannot be checked: {_first_line(error)}")]


@cache
def _meta_schema(draft: str) -> Validator:
    import jsonschema_rs

    reference = {"$schema": draft, "$ref": draft if draft.startswith("https") else f"{draft}#"}
    return jsonschema_rs.validator_for(reference, offline=True, validate_formats=False)


def _applications(schema: Any) -> int:
    """How many schemas one value is held against, as far as that does not depend on the value."""
    known: dict[int, int] = {}
    under_way: set[int] = set()

    def count(node: Any, depth: int) -> int:
        if not isinstance(node, dict) or id(node) in under_way or depth > 200:
            return 1
        if (found := known.get(id(node))) is not None:
            return found
        under_way.add(id(node))
        total = 1 + sum(count(below, depth + 1) for below in _below(node, schema))
        under_way.discard(id(node))
        known[id(node)] = total
        return total

    return max((count(node, 0) for node in _nodes(schema)), default=0)


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    pending = [schema]
    while pending:
        node = pending.pop()
        if isinstance(node, dict):
            yield node
            pending.extend(node.values())
        elif isinstance(node, list):
            pending.extend(node)


def _below(node: dict[str, Any], root: Any) -> Iterator[Any]:
    for key, value in node.items():
        if key in _IN_PLACE:
            yield from value if isinstance(value, list) else (value,)
        elif key in _MAPS_IN_PLACE and isinstance(value, dict):
            yield from value.values()
        elif key == "$ref" and isinstance(value, str) and value.startswith("#"):
            yield resolve(value, root)


def resolve(reference: str, root: Any) -> Any:
    """The schema in ``root`` that a ``$ref`` (``#``, ``#/$defs/…``, ``#anchor``) points to; None if there is none."""
    if reference == "#":
        return root
    if not reference.startswith("#/"):
        name = reference[1:] if reference.startswith("#") else None
        anchors = ("$anchor", "$dynamicAnchor")
        return next((node for node in _nodes(root) if name and name in map(node.get, anchors)), None)
    from urllib.parse import unquote

    here = root
    for step in (unquote(part).replace("~1", "/").replace("~0", "~") for part in reference[2:].split("/")):
        if isinstance(here, list) and step.isascii() and step.isdigit() and int(step) < len(here):
            here = here[int(step)]
        elif isinstance(here, dict) and step in here:
            here = here[step]
        else:
            return None
    return here if isinstance(here, dict | bool) else None


def _refusal(error: ValidationError) -> UserSchemaError:
    route = tuple(error.instance_path)
    if route[-1:] == ("pattern",) and isinstance(error.instance, str):
        return UserSchemaError(f"“{error.instance}” is no regular expression of JSON Schema", route)
    if type(error.kind).__name__ == "Referencing" or "not present in a registry" in error.message:
        reference = error.message.partition("'")[2].partition("'")[0]
        return UserSchemaError(f"it points to “{reference}”, which is not in it", route)
    fault = _fault(error)
    if fault.keyword == "":
        return UserSchemaError(_first_line(error), route)
    return UserSchemaError(f"“{route[-1]}” {fault.words}" if route else f"it {fault.words}", route)


def _once(errors: Iterator[ValidationError]) -> list[SchemaFault]:
    found: dict[tuple[Any, ...], SchemaFault] = {}
    for error in islice(errors, 20 * MOST_FAULTS):
        fault = _fault(error)
        found.setdefault((fault.path, fault.keyword, fault.words), fault)
        if len(found) == MOST_FAULTS:
            break
    return list(found.values())


def _named(fault: SchemaFault, value: Any) -> SchemaFault:
    # Where no name at all is allowed, the validator tells the first value that stands there, and not its name.
    inside = get(value, fault.path)
    if fault.keyword != "additionalProperties" or fault.wanted or not isinstance(inside, dict):
        return fault
    names = tuple(inside)
    words = f"may not have {', '.join(f'“{name}”' for name in names[:8])}"
    return SchemaFault(fault.path, fault.keyword, inside, names, words)


def _fault(error: ValidationError) -> SchemaFault:
    details: Any = error.kind
    keyword = str(error.schema_path[-1]) if error.schema_path else ""
    found = error.instance
    shown = show(found)[:80]
    wanted: tuple[Any, ...] = ()
    match type(details).__name__:
        case "Required":
            keyword, wanted = "required", (details.property,)
            words = f"lacks “{details.property}”"
        case "AdditionalProperties" | "UnevaluatedProperties":
            wanted = tuple(details.unexpected)
            words = f"may not have {', '.join(f'“{name}”' for name in wanted)}"
        case "Type":
            wanted = tuple(details.types)
            words = f"is {shown}, {kind(found)}; it has to be {' or '.join(_KINDS.get(each, each) for each in wanted)}"
        case "Enum":
            wanted = tuple(details.options)
            listed = ", ".join(show(each)[:60] for each in wanted[:8])
            words = f"is {shown}; it has to be one of {listed}{', …' if len(wanted) > 8 else ''}"
        case "Constant":
            wanted = (details.expected_value,)
            words = f"is {shown}; it has to be {show(wanted[0])[:80]}"
        case "FalseSchema":
            words = f"is {shown}, but nothing may stand there"
        case "Pattern":
            wanted = (details.pattern,)
            words = f"is {shown}, which does not match “{details.pattern}”"
        case "BacktrackLimitExceeded" | "RegexEngineFailure":
            words = f"is {shown}, on which its pattern would not come to an end"
        case "AnyOf" | "OneOfNotValid":
            words = f"is {shown}, which fits none of those that “{keyword}” lists"
        case "OneOfMultipleValid":
            words = f"is {shown}, which fits more than one of those that “oneOf” lists"
        case "Not":
            words = f"is {shown}, which “not” rules out"
        case "Contains":
            words = f"is {shown}, which has no item that “contains” asks for"
        case "UniqueItems":
            words = f"is {shown}, in which an item comes twice"
        case "PropertyNames":
            inner = _fault(details.error)
            words = f"has a name that {inner.words}"
        case name if (limit := _limit(details)) is not None and name in _BOUNDS:
            wanted = (limit,)
            words = f"is {shown}, which {_BOUNDS[name].format(show(limit), s='' if limit == 1 else 's')}"
        case _:
            words = f"is {shown}, which “{keyword}” does not allow" if keyword else "does not fit"
    return SchemaFault(tuple(error.instance_path), keyword, found, wanted, words)


_BOUNDS: Final = {
    "Minimum": "is below {}",
    "Maximum": "is above {}",
    "ExclusiveMinimum": "is not above {}",
    "ExclusiveMaximum": "is not below {}",
    "MinLength": "is shorter than {} character{s}",
    "MaxLength": "is longer than {} character{s}",
    "MinItems": "has fewer than {} item{s}",
    "MaxItems": "has more than {} item{s}",
    "AdditionalItems": "has more than {} item{s}",
    "MinProperties": "has fewer than {} key{s}",
    "MaxProperties": "has more than {} key{s}",
    "MultipleOf": "is no multiple of {}",
}


def _limit(details: Any) -> Any:
    return getattr(details, "limit", getattr(details, "multiple_of", None))


def _first_line(error: Exception) -> str:
    return (getattr(error, "message", None) or str(error)).partition("\n")[0].rstrip(".")


__all__ = [
    "DRAFTS",
    "MOST_FAULTS",
    "SchemaFault",
    "UserSchema",
    "UserSchemaError",
    "compile_schema",
    "draft_of",
    "resolve",
    "schema_faults",
]
