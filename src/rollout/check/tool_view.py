"""A declared tool as rules see it: its parameters, the placeholders it uses, and what it writes to the state."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

from rollout.check.subject import Item, Subject
from rollout.diagnostics import Span
from rollout.language.params_schema import Parameters, read_parameters
from rollout.language.path_template import PathTemplate, parse_path_template
from rollout.language.paths import MISSING, KeyPieces, PathError, Step, get, write
from rollout.language.placeholders import Placeholder, Spot, spots
from rollout.language.tool_texts import changes, expressions, templates
from rollout.language.user_schema import UserSchema, UserSchemaError, compile_schema
from rollout.source.place import At, Route

if TYPE_CHECKING:
    from rollout.language.cel import Condition

ARGUMENTS = object()
"""Stands for what a write puts down when it names no value: the call's arguments, as one object."""


@dataclass(frozen=True, slots=True)
class Write:
    """One change that a tool makes to the state: where its path stands, the path, and the value (or ARGUMENTS)."""

    route: Route
    path: PathTemplate
    appends: bool
    value: Any

    def replaces(self, steps: tuple[Step, ...]) -> bool:
        """Whether it may put something else in the place of what stands at ``steps``, and not only into that."""
        known = self.path.known[: len(steps)]
        return not self.appends and len(self.path.pieces) <= len(steps) and known == steps[: len(known)]


@dataclass(frozen=True, slots=True)
class Read:
    """Something that a tool looks at when it is called: ``${args.x}`` in a text, or ``args.x`` in an expression."""

    route: Route
    at: At
    text: str
    root: str
    steps: tuple[Step, ...]
    whole: str = ""
    """The text that it stands in, from ``start`` to ``end``; empty for an expression."""
    start: int = 0
    end: int = 0

    def span(self, subject: Subject) -> Span | None:
        """Where it is written, if the file has it as it is."""
        if self.whole:
            return subject.inside(self.route, self.whole, self.start, self.end, self.at)
        return subject.within(self.route, self.text, self.at)

    def instead(self, path: str) -> str:
        """How another path would be written in its place."""
        return f"${{{path}}}" if self.text.startswith("$") else path


class ToolView:
    """One tool. Lenient as the subject is: what has the wrong shape is empty, and never an exception."""

    def __init__(self, item: Item) -> None:
        self.item = item
        self.route = item.route
        self.name = item.text("name")
        self.kind = item.text("kind")

    def __str__(self) -> str:
        return f"“{self.name}”" if self.name else f"number {int(self.route[-1]) + 1}"

    @cached_property
    def parameters(self) -> Parameters:
        """The parameters as declared, or inferred where nothing is declared."""
        return read_parameters(self.item.value)

    @cached_property
    def is_declared(self) -> bool:
        """Whether the names of the parameters are written down, all of them and in a form that was understood."""
        written = self.item.value.get("paramsSchema")
        if not isinstance(written, dict) or self.parameters.form == "inferred":
            return False
        if self.parameters.form == "shorthand":
            return True
        # A schema that is put together, or that says it takes more, may accept names that are not listed.
        more = written.get("additionalProperties", False)
        return more is False and not written.keys() & _COMPOSED

    @cached_property
    def compiled(self) -> UserSchema | None:
        """The parameters, compiled; None where they have a fault, for which another rule has the words."""
        if self.parameters.faults:
            return None
        try:
            return compile_schema(self.parameters.schema)
        except UserSchemaError:
            return None

    @cached_property
    def _each_argument(self) -> UserSchema | None:
        """The parameters, compiled to judge some of the arguments by themselves."""
        schema = self.parameters.schema
        try:
            return compile_schema({key: schema[key] for key in _OF_EACH if key in schema})
        except UserSchemaError:
            return None

    def judge_of(self, name: str) -> UserSchema | None:
        """What judges an object that has only the argument ``name``; None where nothing is known of that argument."""
        if not self.is_declared or self.parameters.faults or name not in self.parameters.names:
            return None
        return self._each_argument

    def refusal(self, name: str, value: Any) -> str | None:
        """What the parameter called ``name`` has against ``value``, as “x” is …; None where it takes it or may."""
        compiled = self.judge_of(name)
        if compiled is None or compiled.is_valid({name: value}):
            return None
        fault = next((each for each in compiled.faults({name: value}) if each.path and each.keyword), None)
        return None if fault is None else f"“{write(fault.path)}” {fault.words}"

    def says_more_than_type(self, name: str) -> bool:
        """Whether the parameter called ``name`` is bound to more than one of the plain types."""
        properties = self.parameters.schema.get("properties")
        schema = properties.get(name) if isinstance(properties, dict) else None
        if not isinstance(schema, dict):
            return False
        return bool(schema.keys() - _SAYS_NOTHING) or schema.get("type") not in _PLAIN_TYPES

    @cached_property
    def spots(self) -> tuple[Spot, ...]:
        """Every text of the tool with a ``${`` in it that is filled in when the tool is called."""
        return tuple(
            spot
            for place, value in templates(self.item.value)
            for spot in spots(value, (*self.route, *place))
        )

    @property
    def placeholders(self) -> Iterator[tuple[Spot, Placeholder]]:
        """The placeholders, each with the text it stands in, and the paths in brackets inside them."""
        for spot in self.spots:
            for look in spot.interpolation.looks:
                yield spot, look

    @cached_property
    def conditions(self) -> tuple[tuple[Route, Condition], ...]:
        """The expressions of the tool that can be read: its ``vars``, and the ``when`` of its cases."""
        written = [((*self.route, *place), text) for place, text in expressions(self.item.value)]
        if not written:
            return ()
        # Loaded only where there is an expression.
        from rollout.language.cel import TOOL_ROOTS, MalformedConditionError, parse

        found: list[tuple[Route, Condition]] = []
        for route, text in written:
            try:
                found.append((route, parse(text, TOOL_ROOTS)))
            except MalformedConditionError:
                continue
        return tuple(found)

    @cached_property
    def constant_cases(self) -> dict[int, bool]:
        """The cases, by number, whose ``when`` looks at nothing, and whether they always fit or never."""
        return {
            int(route[-2]): fits
            for route, condition in self.conditions
            if route[-1] == "when" and route[-3] == "cases" and (fits := _constant(condition)) is not None
        }

    @property
    def is_understood(self) -> bool:
        """Whether all of its placeholders and expressions can be read."""
        if any(spot.interpolation.faults for spot in self.spots):
            return False
        return len(self.conditions) == sum(1 for _ in expressions(self.item.value))

    @cached_property
    def reads(self) -> tuple[Read, ...]:
        """What the tool looks at, in texts and in expressions. What it asks for with ``has`` is there as well."""
        found = [
            Read(
                spot.route,
                "key" if spot.is_key else "value",
                each.text,
                each.root,
                each.steps,
                spot.interpolation.text,
                each.start,
                each.end,
            )
            for spot, each in self.placeholders
        ]
        for route, condition in self.conditions:
            for look in condition.looks:
                text = ".".join((look.root, *look.steps))
                found.append(Read(route, "value", text, look.root, look.steps))
        return tuple(found)

    @cached_property
    def undeclared(self) -> frozenset[str]:
        """The arguments that its texts use and that are not declared, which is told where they are used."""
        used = {str(read.steps[0]) for read in self.reads if read.root == "args" and read.steps}
        return frozenset(used.difference(self.parameters.names)) if self.is_declared else frozenset()

    @cached_property
    def asked_for(self) -> frozenset[tuple[str, tuple[Step, ...]]]:
        """What an expression asks for with ``has``, as root and steps: that it may be missing is thought of."""
        return frozenset(
            (look.root, look.steps)
            for _, condition in self.conditions
            for look in condition.looks
            if look.is_asked_for
        )

    @cached_property
    def variables(self) -> tuple[str, ...]:
        """The names of its ``vars``."""
        written = self.item.value.get("vars")
        return tuple(written) if isinstance(written, dict) else ()

    @cached_property
    def paths(self) -> tuple[tuple[str, Route, str, bool], ...]:
        """The texts that must be paths: what the key is called, its route, the text, whether ``[]`` may end it."""
        found: list[tuple[str, Route, str, bool]] = []
        for key in ("fixturePath", "appendTo", "stateArray"):
            if (text := self.item.text(key)) is not None:
                found.append((key, (*self.route, key), text, key != "fixturePath"))
        found.extend(
            ("path", (*self.route, *place, "path"), each["path"], True)
            for place, each in changes(self.item.value)
        )
        return tuple(found)

    @cached_property
    def writes(self) -> tuple[Write, ...]:
        """What the tool changes in the state, as far as its paths can be read."""
        value = self.item.value
        found: list[Write | None] = []
        if self.kind == "action" or (self.kind is None and "stateArray" in value):
            for key in ("appendTo", "stateArray"):
                if (text := self.item.text(key)) is not None:
                    what = value.get("value", ARGUMENTS) if key == "appendTo" else ARGUMENTS
                    found.append(_write((*self.route, key), text, what, always_appends=True))
        for place, each in changes(value):
            found.append(_write((*self.route, *place, "path"), each["path"], each.get("value", ARGUMENTS)))
        return tuple(write for write in found if write is not None)

    @property
    def takes_arguments_whole(self) -> bool:
        """Whether all arguments are put down as they are, so that each of them counts as used."""
        return any(write.value is ARGUMENTS for write in self.writes) or any(
            read.root == "args" and not read.steps for read in self.reads
        )


# What of a schema says something of each argument, however many others there are.
_OF_EACH = ("$schema", "$id", "$defs", "definitions", "properties")
_SAYS_NOTHING = frozenset({"type", "title", "description", "default", "examples", "$comment", "deprecated"})
_PLAIN_TYPES = (None, "array", "boolean", "null", "number", "object", "string")
_COMPOSED = frozenset({"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties"})


def _constant(condition: Condition) -> bool | None:
    """What a condition that looks at nothing always comes to; None where it depends, or comes to neither."""
    from rollout.language.cel import ConditionError

    if condition.looks:
        return None
    try:
        return condition.holds({})
    except ConditionError:
        return None


def _write(route: Route, text: str, value: Any, *, always_appends: bool = False) -> Write | None:
    try:
        path = parse_path_template(text, appending=True)
    except PathError:
        return None
    return Write(route, path, always_appends or path.appends, value)


def follow(root: Any, path: PathTemplate, *, most: int = 2_000) -> tuple[list[Any], int]:
    """What may stand at ``path`` below ``root``, taking every member wherever a step is filled in later.

    Returns the values and how many steps led there: fewer than all, and the values that the next step was not
    found in, when it leads nowhere. ``most`` bounds how many values are looked at.
    """
    here: list[Any] = [root]
    for number, piece in enumerate(path.pieces):
        below: list[Any] = []
        for value in here:
            if number in path.filled:
                if isinstance(value, dict):
                    below.extend(value.values())
                elif isinstance(value, list):
                    below.extend(value)
            else:
                if (found := get(value, (step_of(piece),))) is not MISSING:
                    below.append(found)
            if len(below) > most:
                break
        if not below:
            return here, number
        here = below
    return here, len(path.pieces)


def step_of(piece: KeyPieces | int) -> Step:
    """A step of a path template as it is written."""
    return piece if isinstance(piece, int) else "".join(map(str, piece))


def keys_of(values: Iterable[Any]) -> list[str]:
    """The keys of those values that are objects (the first 200 of them), each once, in their order."""
    return list(
        dict.fromkeys(key for value in islice(values, 200) if isinstance(value, dict) for key in value)
    )


def meet(one: PathTemplate, other: PathTemplate, depth: int) -> bool:
    """Whether the first ``depth`` steps of two paths may lead to the same place: a step filled in later may be any."""
    return all(
        number in one.filled
        or number in other.filled
        or step_of(one.pieces[number]) == step_of(other.pieces[number])
        for number in range(depth)
    )


def may_be_made(writes: Collection[Write], steps: tuple[Step, ...]) -> bool:
    """Whether one of ``writes`` may put something at ``steps``, above it or below it."""
    for each in writes:
        known = each.path.known
        shared = min(len(known), len(steps))
        if known[:shared] == steps[:shared]:
            return True
    return False


__all__ = [
    "ARGUMENTS",
    "Read",
    "ToolView",
    "Write",
    "follow",
    "keys_of",
    "may_be_made",
    "meet",
    "step_of",
]
