"""Fills ``${…}`` in a spec's texts from the arguments, the state, the fixtures and the task.

A text that is exactly one placeholder becomes the value itself, with its type; inside a longer text a value is written
as text, and an object as JSON. What was filled in is never looked at again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from rollout.language.canonical import canonical
from rollout.language.paths import MISSING, FilledKey, get
from rollout.language.placeholders import Interpolation, Placeholder, parse
from rollout.language.room import Room, weight

ROOM: Final = "room"
"""Where a scope has the :class:`Room` that what is filled in takes; without it there is no bound."""

Scope = Mapping[str, Any]
"""The values to fill in: one for each root of a placeholder, ``task`` as ``{"input": …}``, and :data:`ROOM`."""


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
    "Fill",
    "FillError",
    "MalformedError",
    "Scope",
    "SegmentError",
    "UnresolvedError",
    "as_text",
    "fill_text",
    "fresh",
    "key_of",
    "look_up",
    "prepare",
    "well_formed",
]
