"""Where a value stands: the tree of places that runs beside the tree of values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from rollout.diagnostics import Span
from rollout.source.text import SourceFile

Route = tuple[str | int, ...]
"""The way to a value: keys and indexes from the root, such as ``("config", "tools", 0, "name")``."""

At = Literal["value", "key"]

MAX_DEPTH = 100
"""How many objects and lists may lie inside each other, in every format."""


class Place:
    """The stretch of a file that one value was read from, with the places of what it holds.

    ``children`` is a dict for an object, a list for an array, None for a scalar. ``key_start`` is -1 where
    the value has no key. Offsets are into ``source.text``; the text of a scalar re-reads to the value.
    """

    __slots__ = ("children", "end", "key_end", "key_start", "source", "start")

    def __init__(
        self,
        source: SourceFile,
        start: int,
        end: int,
        children: dict[str, Place] | list[Place] | None = None,
        key_start: int = -1,
        key_end: int = -1,
    ) -> None:
        self.source = source
        self.start = start
        self.end = end
        self.children = children
        self.key_start = key_start
        self.key_end = key_end

    def child(self, step: str | int) -> Place | None:
        """The place of one member, or None when there is no such key or index."""
        children = self.children
        if isinstance(children, dict):
            return children.get(step) if isinstance(step, str) else None
        if isinstance(children, list) and isinstance(step, int) and -len(children) <= step < len(children):
            return children[step]
        return None

    def nearest(self, route: Sequence[str | int]) -> tuple[Place, int]:
        """The deepest place on ``route`` that exists, and how many steps of the route it took."""
        place = self
        for taken, step in enumerate(route):
            below = place.child(step)
            if below is None:
                return place, taken
            place = below
        return place, len(route)

    def span(self, at: At = "value") -> Span:
        """The span of the value, or of its key where it has one."""
        if at == "key" and self.key_start >= 0:
            return self.source.span(self.key_start, self.key_end)
        return self.source.span(self.start, self.end)


@dataclass(frozen=True, slots=True)
class Problem:
    """Something a lower layer noticed: which rule it is a case of, where it is, and the facts.

    The words are the rule's: ``check/rules/<slug>.py`` has a ``describe(problem)``.
    """

    slug: str
    span: Span
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Parsed:
    """A value with its places: what every reader returns."""

    value: Any
    place: Place


__all__ = ["MAX_DEPTH", "At", "Parsed", "Place", "Problem", "Route"]
