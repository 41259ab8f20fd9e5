"""How much a world may make: what one call renders and answers, and what a rollout adds to its state.

It is counted while a value is made, before there is memory for all of it: a template that doubles a list at every call
is stopped at the call that would be too much.
"""

from __future__ import annotations

import json
import marshal
from typing import Any, Final

import orjson

MOST_MADE: Final = 1_000_000
"""About how many bytes one call may come to: all that is filled in for it, and its answer as the model reads it."""

MOST_ADDED: Final = 4_000_000
"""How many bytes of JSON a state may come to beyond those it had at the start."""

MOST_OF_THE_MODEL: Final = 10_000
"""From so many bytes of arguments on, in all calls of a rollout together, it is the model that made too much."""

MOST_WORK: Final = 40_000_000
"""How much the expressions of one call may go over: about the bytes that are copied, one round of a loop after another.
It comes to a fifth of a second, in which no other rollout moves."""

_PART: Final = 8


class OverfullError(Exception):
    """More was to be made than there is room for; its text is a clause without a subject: “makes more than …”."""


class Room:
    """What one call may still make, and what its expressions may still go over."""

    __slots__ = ("left", "work")

    def __init__(self, *, work: int = MOST_WORK) -> None:
        self.left = MOST_MADE
        self.work = work

    def take(self, size: int) -> None:
        """Takes room for so many bytes. Raises OverfullError when there is not enough."""
        self.left -= size
        if self.left < 0:
            raise OverfullError(f"makes more than {MOST_MADE:,} bytes in one call")


def weight(value: Any) -> int:
    """About how many bytes a value takes: JSON, or one of the times and types of CEL. Never raises."""
    try:
        # Version 2 writes out a part that is there twice both times, as whoever copies it does.
        return len(marshal.dumps(value, 2))
    except ValueError:
        return _weight_by_parts(value)


def _weight_by_parts(value: Any) -> int:
    total, waiting = 0, [value]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            waiting += (*part, *part.values())
        elif isinstance(part, list | tuple):
            waiting += part
        total += len(part) + _PART if isinstance(part, str | bytes) else _PART
    return total


def size_of_state(state: dict[str, Any]) -> int:
    """The bytes of a state as JSON. Raises OverfullError where it is nested too deeply to be written down."""
    try:
        return len(orjson.dumps(state))
    except TypeError as error:
        if "ecursion" in str(error):
            raise OverfullError("nests its state more than 250 levels deep") from None
        # Whole numbers past 64 bits, and halves of characters.
        return len(json.dumps(state))


def check_growth(added: int) -> None:
    """Raises OverfullError where a state has so many bytes more than at the start that there may be no more."""
    if added > MOST_ADDED:
        raise OverfullError(f"makes the state more than {MOST_ADDED:,} bytes larger than it was at the start")


__all__ = [
    "MOST_ADDED",
    "MOST_MADE",
    "MOST_OF_THE_MODEL",
    "MOST_WORK",
    "OverfullError",
    "Room",
    "check_growth",
    "size_of_state",
    "weight",
]
