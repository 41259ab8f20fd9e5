"""A declared tool as rules see it: its parameters, the placeholders it uses, and what it writes to the state."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from rollout.check.subject import Item
from rollout.language.interpolation import Placeholder, Spot, spots
from rollout.language.params_schema import Parameters, read_parameters
from rollout.language.path_template import PathTemplate, parse_path_template
from rollout.language.paths import MISSING, KeyPieces, PathError, Step, get
from rollout.source.place import Route

ARGUMENTS = object()
"""Stands for what a write puts down when it names no value: the call's arguments, as one object."""

TEMPLATED = ("fixturePath", "appendTo", "value", "response", "mutates")
"""The keys of a tool whose texts are filled in when it is called."""


@dataclass(frozen=True, slots=True)
class Write:
    """One change that a tool makes to the state: where its path stands, the path, and the value (or ARGUMENTS)."""

    route: Route
    path: PathTemplate
    appends: bool
    value: Any


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
    def spots(self) -> tuple[Spot, ...]:
        """Every text of the tool with a ``${`` in it that is filled in when the tool is called."""
        value = self.item.value
        return tuple(
            spot for key in TEMPLATED if key in value for spot in spots(value[key], (*self.route, key))
        )

    @property
    def placeholders(self) -> Iterator[tuple[Spot, Placeholder]]:
        """The placeholders, each with the text it stands in."""
        for spot in self.spots:
            for placeholder in spot.interpolation.placeholders:
                yield spot, placeholder

    @cached_property
    def paths(self) -> tuple[tuple[str, Route, str, bool], ...]:
        """The texts that must be paths: what the key is called, its route, the text, whether ``[]`` may end it."""
        found: list[tuple[str, Route, str, bool]] = []
        for key in ("fixturePath", "appendTo", "stateArray"):
            if (text := self.item.text(key)) is not None:
                found.append((key, (*self.route, key), text, key != "fixturePath"))
        found.extend(("path", (*route, "path"), each["path"], True) for route, each in self._mutations())
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
        for route, each in self._mutations():
            found.append(_write((*route, "path"), each["path"], each.get("value", ARGUMENTS)))
        return tuple(write for write in found if write is not None)

    @property
    def takes_arguments_whole(self) -> bool:
        """Whether all arguments are put down as they are, so that each of them counts as used."""
        return any(write.value is ARGUMENTS for write in self.writes) or any(
            placeholder.root == "args" and not placeholder.steps for _, placeholder in self.placeholders
        )

    def _mutations(self) -> Iterator[tuple[Route, dict[str, Any]]]:
        mutates = self.item.value.get("mutates")
        route = (*self.route, "mutates")
        if isinstance(mutates, dict):
            members: Iterator[tuple[Route, Any]] = iter([(route, mutates)])
        elif isinstance(mutates, list):
            members = (((*route, index), member) for index, member in enumerate(mutates))
        else:
            return
        for at, member in members:
            if isinstance(member, dict) and isinstance(member.get("path"), str):
                yield at, member


_COMPOSED = frozenset({"$ref", "$dynamicRef", "allOf", "anyOf", "oneOf", "if", "patternProperties"})


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
    for write in writes:
        known = write.path.known
        shared = min(len(known), len(steps))
        if known[:shared] == steps[:shared]:
            return True
    return False


__all__ = [
    "ARGUMENTS",
    "TEMPLATED",
    "ToolView",
    "Write",
    "follow",
    "keys_of",
    "may_be_made",
    "meet",
    "step_of",
]
