"""``${…}`` in a spec's texts: what a text names, and what is malformed in it, found once a text.

``${args.x.y}``, ``${args.x[0]}``, ``${state.…}``, ``${fixtures.…}``, ``${task.input.…}`` and, in a tool that has them,
``${vars.…}``. A path in brackets, as in ``${state.orders[args.id].total}``, stands for the key that is there: it is one
step, whatever is in it. ``$${`` is a literal ``${``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from rollout.language.paths import KeyPieces, PathError, Piece, Step, split

ROOTS: Final = ("args", "fixtures", "state", "task", "vars")
"""What a placeholder may start with."""

_MOST_FAULTS: Final = 100


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


__all__ = ["ROOTS", "Fault", "Interpolation", "Placeholder", "Spot", "parse", "spots"]
