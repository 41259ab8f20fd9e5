"""``${…}`` in a spec's texts: parsed once, then filled from the arguments, the state, the fixtures and the task.

``${args.x.y}``, ``${args.x[0]}``, ``${state.…}``, ``${fixtures.…}``, ``${task.input.…}`` and, in a tool that has them,
``${vars.…}``. A path in brackets, as in ``${state.orders[args.id].total}``, stands for the key that is there: it is one
step, whatever is in it. A text that is exactly one placeholder becomes the value itself, with its type; inside a longer
text a value is written as text, and an object as JSON. ``$${`` is a literal ``${``. What was filled in is never looked
at again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from rollout.language.canonical import canonical
from rollout.language.paths import MISSING, FilledKey, KeyPieces, PathError, Piece, Step, get, split
from rollout.language.room import Room, weight

ROOTS: Final = ("args", "fixtures", "state", "task", "vars")
"""What a placeholder may start with."""

_MOST_FAULTS: Final = 100
ROOM: Final = "room"
"""Where a scope has the :class:`Room` that what is filled in takes; without it there is no bound."""

Scope = Mapping[str, Any]
"""The values to fill in: one for each of :data:`ROOTS`, ``task`` as ``{"input": …}``, and :data:`ROOM`."""


@dataclass(frozen=True, slots=True)
class Placeholder:
    """``${root.steps}``; ``text`` as written, ``start`` and ``end`` its offsets in the text it stands in.

    ``steps`` are those before the first that is a path in brackets; that one, and what follows it, is ``rest``.
    """

    text: str
    root: str
    steps: tuple[Step, ...]
    start: int
    end: int
    rest: tuple[Step | Placeholder, ...] = ()

    @property
    def inner(self) -> Iterator[Placeholder]:
        """The paths in brackets, and those in them."""
        for step in self.rest:
            if isinstance(step, Placeholder):
                yield step
                yield from step.inner

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True)
class Fault:
    """A ``${`` that is no placeholder: a sentence, the way out, and the offsets it stands at."""

    message: str
    hint: str
    start: int
    end: int

    def shown(self, text: str) -> tuple[int, int]:
        """Where it can be shown in its text: a blank, or nothing at all, with the placeholder around it."""
        if text[self.start : self.end].strip():
            return self.start, self.end
        start = text.rfind("${", 0, self.start)
        end = text.find("}", self.end)
        return start, end + 1 if end >= 0 else self.end


@dataclass(frozen=True, slots=True)
class Interpolation:
    """A parsed text: literal stretches and placeholders in turn, and what was malformed.

    ``parts`` are complete when there are no ``faults``; only then can it be filled in.
    """

    text: str
    parts: tuple[str | Placeholder, ...]
    faults: tuple[Fault, ...] = ()

    @property
    def placeholders(self) -> tuple[Placeholder, ...]:
        """The placeholders, in order."""
        return tuple(part for part in self.parts if isinstance(part, Placeholder))

    @property
    def looks(self) -> Iterator[Placeholder]:
        """All that it looks at: the placeholders, each before the paths in brackets inside it."""
        for placeholder in self.placeholders:
            yield placeholder
            yield from placeholder.inner

    @property
    def whole(self) -> Placeholder | None:
        """The placeholder, when the text is exactly one and so keeps the value's type."""
        part = self.parts[0] if len(self.parts) == 1 else None
        return part if isinstance(part, Placeholder) else None


class FillError(LookupError):
    """Something could not be filled in; its text is a sentence that an agent can act on."""


class UnresolvedError(FillError):
    """A placeholder for which there is nothing to fill in. Its text is a sentence that names it."""

    def __init__(self, placeholder: Placeholder) -> None:
        super().__init__(f"There is nothing at {placeholder.text}.")
        self.placeholder = placeholder


class SegmentError(FillError):
    """An object or a list was filled into a path. Its text is a sentence."""


class MalformedError(ValueError):
    """A text with a malformed placeholder was to be filled in. Its text is the first fault's sentence."""


@lru_cache(maxsize=4096)
def parse(text: str) -> Interpolation:
    """Parses ``text``; never raises. Equal texts share one answer."""
    parts: list[str | Placeholder] = []
    faults: list[Fault] = []
    literal, at = "", 0
    while (dollar := text.find("$", at)) >= 0:
        literal += text[at:dollar]
        if text.startswith("$${", dollar):
            literal += "${"
            at = dollar + 3
        elif text.startswith("${", dollar):
            found, at = _placeholder(text, dollar)
            if isinstance(found, Fault):
                faults.append(found)
                if len(faults) == _MOST_FAULTS:
                    break
                continue
            if literal:
                parts.append(literal)
                literal = ""
            parts.append(found)
        else:
            literal += "$"
            at = dollar + 1
    literal += text[at:]
    if literal:
        parts.append(literal)
    return Interpolation(text, tuple(parts), tuple(faults))


def _placeholder(text: str, start: int) -> tuple[Placeholder | Fault, int]:
    end = _closing_brace(text, start + 2)
    if end < 0:
        stop = _line_end(text, start)
        return (
            Fault(
                "This “${” is not closed.",
                "Add the “}”, or write $${ for a literal ${.",
                start,
                min(stop, start + 2),
            ),
            stop,
        )
    inside, after = text[start + 2 : end], end + 1
    shown = text[start:after]
    if not inside.strip():
        return Fault(
            "This placeholder is empty.", "Name a value, such as ${args.order_id}.", start, after
        ), after
    if inside.startswith(("$", "{")) or "${" in inside:
        return (
            Fault(
                "A placeholder cannot stand inside another.",
                "Use one path, such as ${args.key}.",
                start,
                after,
            ),
            after,
        )
    return _path(shown, inside, start + 2, (start, after)), after


def _path(shown: str, inside: str, at: int, whole: tuple[int, int]) -> Placeholder | Fault:
    """The path ``inside``, which stands at ``at``; ``whole`` is where the placeholder ``shown`` around it stands."""
    pieces: list[Piece] = []
    offsets: list[int] = []
    here = 0
    while here < len(inside):
        pieces.append(inside[here])
        offsets.append(here)
        here += 1
        if inside[here - 1] != "[":
            continue
        if inside[here : here + 1] in ('"', "'"):
            after = _closing_quote(inside, here)
            pieces += inside[here:after]
            offsets += range(here, after)
            here = after
        elif (end := _closing_bracket(inside, here)) > 0:
            inner = inside[here:end]
            found = _path(f"${{{inner}}}", inner, at + here, (at + here, at + end))
            if isinstance(found, Fault):
                return found
            pieces.append(found)
            offsets.append(here)
            here = end
    offsets.append(here)
    try:
        steps = [_step(step) for step in split(pieces)[0]]
    except PathError as error:
        return Fault(
            f"“{shown}” is no path. {error}", error.hint, at + offsets[error.start], at + offsets[error.end]
        )
    return _rooted(shown, steps, *whole)


_INNER = re.compile(rf"(?:{'|'.join(ROOTS)})[.\[]")


def _closing_bracket(text: str, start: int) -> int:
    """Where the bracket ends before ``start`` of which a path begins; -1 where it holds something else."""
    if _INNER.match(text, start) is None:
        return -1
    depth = 1
    for at in range(start, len(text)):
        depth += {"[": 1, "]": -1}.get(text[at], 0)
        if not depth:
            return at
    return -1


def _closing_quote(text: str, start: int) -> int:
    """The offset behind the quoted text that begins at ``start``; the end of the text where it is not closed."""
    at = start + 1
    while at < len(text) and text[at] != text[start]:
        at += 2 if text[at] == "\\" else 1
    return min(at + 1, len(text))


def _step(step: KeyPieces | int) -> Step | Placeholder:
    if isinstance(step, int):
        return step
    if len(step) == 1 and isinstance(step[0], Placeholder):
        return step[0]
    return "".join(map(str, step))


def _rooted(shown: str, steps: Sequence[Step | Placeholder], start: int, end: int) -> Placeholder | Fault:
    root, rest = steps[0], steps[1:]
    if root not in ROOTS:
        return Fault(
            f"“{shown}” names “{root}”, which is not known here.",
            f"For an argument write ${{args.{shown[2:-1]}}}; state, fixtures and task.input are the other roots, "
            "and $${ is a literal ${.",
            start,
            end,
        )
    if root == "task" and (not rest or rest[0] != "input"):
        return Fault(
            f"“{shown}” names a part of the task that tools cannot see.", "Use ${task.input.…}.", start, end
        )
    known = next((n for n, step in enumerate(rest) if isinstance(step, Placeholder)), len(rest))
    plain = tuple(step for step in rest[:known] if not isinstance(step, Placeholder))
    return Placeholder(shown, str(root), plain, start, end, tuple(rest[known:]))


def _closing_brace(text: str, at: int) -> int:
    quote = ""
    while at < len(text):
        character = text[at]
        if character == "\n":
            return -1
        if quote:
            if character == "\\":
                at += 1
            elif character == quote:
                quote = ""
        elif character in "\"'" and text[at - 1] == "[":
            quote = character
        elif character == "}":
            return at
        at += 1
    return -1


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end


@dataclass(frozen=True, slots=True)
class Spot:
    """A text with a ``${`` somewhere inside a value: the ``route`` to it, and whether it is a key or a value."""

    route: tuple[str | int, ...]
    is_key: bool
    interpolation: Interpolation


def spots(value: Any, route: tuple[str | int, ...] = ()) -> Iterator[Spot]:
    """All texts with a ``${`` in ``value``, keys of objects among them, in document order."""
    if isinstance(value, str):
        if "${" in value:
            yield Spot(route, False, parse(value))
    elif isinstance(value, dict):
        for key, member in value.items():
            if isinstance(key, str) and "${" in key:
                yield Spot((*route, key), True, parse(key))
            yield from spots(member, (*route, key))
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from spots(member, (*route, index))


Fill = Callable[[Scope], Any]
"""Makes a fresh value from a scope: it shares nothing with the scope or the spec.

Raises UnresolvedError, and OverfullError where the scope has no room for it.
"""


def prepare(value: Any) -> Fill:
    """Compiles a value with placeholders in it (in keys too), once an environment, for filling many times.

    Raises MalformedError when a placeholder in it is malformed.
    """
    if isinstance(value, str):
        return _prepare_text(value)
    if isinstance(value, dict):
        members = [(_prepare_key(key), prepare(member)) for key, member in value.items()]
        return lambda scope: {key(scope): fill(scope) for key, fill in members}
    if isinstance(value, list):
        items = [prepare(item) for item in value]
        return lambda scope: [fill(scope) for fill in items]
    return lambda scope: value


def _prepare_text(text: str) -> Fill:
    parsed = well_formed(text)
    if not parsed.placeholders:
        literal = "".join(map(str, parsed.parts))
        return lambda scope: literal
    if (whole := parsed.whole) is not None:
        return lambda scope: fresh(_taking(look_up(whole, scope), scope))
    return lambda scope: fill_text(parsed, scope)


def _prepare_key(key: str) -> Callable[[Scope], str]:
    parsed = well_formed(key)
    return lambda scope: fill_text(parsed, scope)


def well_formed(text: str) -> Interpolation:
    """The parsed text. Raises MalformedError when a placeholder in it is malformed."""
    parsed = parse(text)
    if parsed.faults:
        raise MalformedError(parsed.faults[0].message)
    return parsed


def fill_text(parsed: Interpolation, scope: Scope) -> str:
    """The text with its placeholders filled in as text. Raises UnresolvedError."""
    return "".join(part if isinstance(part, str) else _text(part, scope) for part in parsed.parts)


def _text(placeholder: Placeholder, scope: Scope) -> str:
    return as_text(_taking(look_up(placeholder, scope), scope))


def _taking(value: Any, scope: Scope) -> Any:
    """The value, after taking the room that a copy of it needs. Raises OverfullError."""
    room: Room | None = scope.get(ROOM)
    if room is not None and isinstance(value, str | dict | list):
        room.take(len(value) if isinstance(value, str) else weight(value))
    return value


def look_up(placeholder: Placeholder, scope: Scope) -> Any:
    """The value a placeholder stands for, not copied. Raises UnresolvedError when there is none."""
    value = get(scope.get(placeholder.root, MISSING), placeholder.steps)
    for step in placeholder.rest:
        value = get(value, (key_of(step, scope) if isinstance(step, Placeholder) else step,))
    if value is MISSING:
        raise UnresolvedError(placeholder)
    return value


def key_of(placeholder: Placeholder, scope: Scope) -> FilledKey:
    """The value a placeholder stands for as one step of a path.

    Raises UnresolvedError, and SegmentError for an object or a list.
    """
    value = look_up(placeholder, scope)
    if isinstance(value, dict | list):
        raise SegmentError(
            f"{placeholder} is {'an object' if isinstance(value, dict) else 'a list'}, not a name."
        )
    return FilledKey(as_text(_taking(value, scope)))


def as_text(value: Any) -> str:
    """A value inside a longer text: a text as it is, anything else as canonical JSON (``100.0`` is ``100``)."""
    return value if isinstance(value, str) else canonical(value).decode("utf-8")


def fresh(value: Any) -> Any:
    """A copy of a JSON value that shares no object and no list with it."""
    if isinstance(value, dict):
        return {key: fresh(member) for key, member in value.items()}
    if isinstance(value, list):
        return [fresh(item) for item in value]
    return value


__all__ = [
    "ROOM",
    "ROOTS",
    "Fault",
    "Fill",
    "FillError",
    "Interpolation",
    "MalformedError",
    "Placeholder",
    "Scope",
    "SegmentError",
    "Spot",
    "UnresolvedError",
    "as_text",
    "fill_text",
    "fresh",
    "key_of",
    "look_up",
    "parse",
    "prepare",
    "spots",
    "well_formed",
]
