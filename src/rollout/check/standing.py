"""What may ever stand at a place of the state: what is there at the start, and what tools put in its place.

Nothing is ever removed, so that a place where only texts are put is a text whenever a tool comes to it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from rollout.check.rows import types_of
from rollout.check.subject import Subject
from rollout.check.tool_view import ARGUMENTS, ToolView, Write, meet, step_of
from rollout.language.path_template import PathTemplate
from rollout.language.paths import MISSING, get, kind

_STAND_INS: dict[type, Any] = {bool: False, int: 0, float: 0.0, str: "", list: [], dict: {}, type(None): None}


@dataclass(frozen=True, slots=True)
class Standing:
    """What may stand at a place. ``values`` are examples of its kinds; ``longest`` is the length of its longest list,
    None where lists may grow."""

    values: tuple[Any, ...]
    longest: int | None

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds, as they are put into a sentence."""
        return tuple(dict.fromkeys(map(kind, self.values)))

    def may_be(self, wanted: type) -> bool:
        """Whether one of the values is a ``dict`` or a ``list``."""
        return any(isinstance(value, wanted) for value in self.values)


class Standings:
    """What may stand at the places of an environment's state, prepared once for many questions."""

    def __init__(self, subject: Subject) -> None:
        self._state = subject.initial_state
        self._writes: dict[str, list[tuple[ToolView, Write]]] = {}
        self._anywhere: list[tuple[ToolView, Write]] = []
        self._known: dict[tuple[Any, ...], Standing | None] = {}
        for tool in subject.tool_views:
            for each in tool.writes:
                known = each.path.known
                home = self._writes.setdefault(str(known[0]), []) if known else self._anywhere
                home.append((tool, each))

    def at(self, path: PathTemplate, depth: int) -> Standing | None:
        """What may stand at the first ``depth`` steps of ``path``; None where that may be anything, or is not there."""
        steps = path.pieces[:depth]
        if steps not in self._known:
            self._known[steps] = self._find(path, depth)
        return self._known[steps]

    def _find(self, path: PathTemplate, depth: int) -> Standing | None:
        values = list(_at_start(self._state, path, depth))
        if not values:
            return None
        grows = False
        for tool, each in self._touching(path):
            size = len(each.path.pieces)
            if not meet(each.path, path, min(size, depth)):
                continue
            if size < depth:
                return None  # what holds it is put there as a whole
            if size == depth and each.appends:
                grows = True
            elif size == depth:
                put = list(_put(tool, each))
                if not put:
                    return None
                values += put
        lengths = [len(value) for value in values if isinstance(value, list)]
        return Standing(tuple(values), None if grows else max(lengths, default=0))

    def _touching(self, path: PathTemplate) -> Iterator[tuple[ToolView, Write]]:
        yield from self._anywhere
        if path.known:
            yield from self._writes.get(str(path.known[0]), ())
        else:
            for each in self._writes.values():
                yield from each


def _at_start(state: dict[str, Any], path: PathTemplate, depth: int, most: int = 2_000) -> Iterable[Any]:
    here: list[Any] = [state]
    for number in range(depth):
        below: list[Any] = []
        for value in here:
            if number not in path.filled:
                below.append(get(value, (step_of(path.pieces[number]),)))
            elif isinstance(value, dict):
                below.extend(value.values())
            elif isinstance(value, list):
                below.extend(value)
        here = [value for value in below[:most] if value is not MISSING]
    return here


def _put(tool: ToolView, change: Write) -> Iterator[Any]:
    """Examples of what a tool puts down; none where it may be anything."""
    value = change.value
    if value is ARGUMENTS:
        yield {}
    elif not isinstance(value, str) or "${" not in value:
        yield value
    elif (known := types_of(tool, value)) is not None:
        yield from (_STAND_INS[each] for each in known[0] if each in _STAND_INS)


__all__ = ["Standing", "Standings"]
