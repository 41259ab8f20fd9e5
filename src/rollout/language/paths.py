"""State paths, the way a spec points into data: ``refunds[0].order_id``, ``cart.length``, ``log[]``.

A path is keys joined by dots, ``[0]`` for a place in a list, ``["a.b"]`` for a key that has dots or brackets in it,
and, only where something is added, ``[]`` at the end: after the last one. A key of digits also reaches into a list
(``refunds.0``), and ``length`` is how many items a list has, unless it is asked of an object with such a key.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Literal

Step = str | int
"""One step into data: a key of an object, or an index of a list."""


class _Missing(Enum):
    MISSING = "missing"

    def __bool__(self) -> Literal[False]:
        return False

    def __repr__(self) -> str:
        return "MISSING"


Missing = Literal[_Missing.MISSING]
MISSING: Final = _Missing.MISSING
"""What :func:`get` answers when nothing is there; ``None`` is a value like any other."""


class PathError(ValueError):
    """A text that is no path. ``start`` and ``end`` are offsets into the text; ``hint`` is the way out."""

    def __init__(self, message: str, start: int, end: int, hint: str) -> None:
        super().__init__(message)
        self.message = message
        self.start = start
        self.end = end
        self.hint = hint


class TargetError(LookupError):
    """Data that a path cannot be written to; its text is a sentence that says where it stops."""


@dataclass(frozen=True, slots=True)
class Path:
    """A parsed path: its ``text`` as written, its ``steps``, and whether it ends in ``[]``."""

    text: str
    steps: tuple[Step, ...]
    appends: bool = False

    def __str__(self) -> str:
        return self.text


Piece = str | object
"""What a path is split from: single characters, and in a path template whole placeholders between them."""

KeyPieces = tuple[Piece, ...]
"""A key as it was written, with the placeholders that stand in it; quoted and escaped characters are resolved."""


def parse(text: str, *, appending: bool = False) -> Path:
    """Reads a path; ``[]`` at its end is accepted only when ``appending``. Raises PathError with its place."""
    steps, appends = split(text, appending=appending)
    return Path(text, tuple(_plain(step) for step in steps), appends)


def _plain(step: KeyPieces | int) -> Step:
    return step if isinstance(step, int) else "".join(str(piece) for piece in step)


def split(pieces: Sequence[Piece], *, appending: bool = False) -> tuple[list[KeyPieces | int], bool]:
    """Splits characters and placeholders into steps; a placeholder is never split. Raises PathError.

    Offsets of a PathError count pieces, which are the characters of a plain text.
    """
    steps: list[KeyPieces | int] = []
    at, size = 0, len(pieces)
    if not size:
        raise PathError("The path is empty.", 0, 0, "Name a key, such as refunds.")
    while at < size:
        if pieces[at] == "[":
            step, after = _bracket(pieces, at)
            if step is None:
                if not appending:
                    raise PathError(
                        "“[]” adds to a list; here a path has to name what is there.",
                        at,
                        after,
                        "Use an index, such as [0], or .length.",
                    )
                if after < size:
                    raise PathError("“[]” may only stand at the end of a path.", at, after, "Move it there.")
                if not steps:
                    raise PathError("“[]” has no list before it.", at, after, "Name the list: refunds[].")
                return steps, True
        else:
            if steps:
                if pieces[at] != ".":
                    raise PathError(
                        "A “.” or “[” has to follow “]”.", at, at + 1, "Put a dot between two keys."
                    )
                at += 1
            step, after = _key(pieces, at)
        steps.append(step)
        at = after
    return steps, False


def _key(pieces: Sequence[Piece], start: int) -> tuple[KeyPieces, int]:
    at = start
    while at < len(pieces) and pieces[at] != "." and pieces[at] != "[":
        if pieces[at] in ("]", '"'):
            raise PathError(f"A key cannot hold “{pieces[at]}”.", at, at + 1, 'Quote such a key: ["a.b"].')
        at += 1
    key = tuple(pieces[start:at])
    if not key:
        raise PathError(
            "A key is missing here.", start, min(start + 1, len(pieces)), "Take out the extra dot."
        )
    if key[0] in (" ", "\t", "\n") or key[-1] in (" ", "\t", "\n"):
        raise PathError(
            "A key begins or ends with a space.", start, at, "Take out the space, or quote the key."
        )
    return key, at


def _bracket(pieces: Sequence[Piece], start: int) -> tuple[KeyPieces | int | None, int]:
    at = start + 1
    if at < len(pieces) and (quote := pieces[at]) in ('"', "'"):
        key: list[Piece] = []
        at += 1
        while at < len(pieces) and pieces[at] != quote:
            at += pieces[at] == "\\" and at + 1 < len(pieces)
            key.append(pieces[at])
            at += 1
        if at + 1 < len(pieces) and pieces[at + 1] == "]":
            return tuple(key), at + 2
        raise PathError("This quoted key has no end.", start, len(pieces), 'Close it: ["a.b"].')
    while at < len(pieces) and pieces[at] != "]":
        at += 1
    if at == len(pieces):
        raise PathError("This “[” is not closed.", start, at, "Add the “]”.")
    inside = pieces[start + 1 : at]
    if not inside:
        return None, at + 1
    if all(isinstance(piece, str) and piece in _DIGITS for piece in inside) and (
        inside[0] != "0" or len(inside) == 1
    ):
        return int("".join(map(str, inside))), at + 1
    if len(inside) == 1 and not isinstance(inside[0], str):
        return (inside[0],), at + 1
    raise PathError(
        f"“{''.join(map(str, inside))}” is no index.",
        start + 1,
        at,
        'Write a number, such as [0], or a quoted key, such as ["a.b"].',
    )


_DIGITS = frozenset("0123456789")


class FilledKey(str):
    """A step that an agent's argument, or other data, gave: a key or an index, but never the length of a list."""

    __slots__ = ()


def get(root: Any, steps: Iterable[Step]) -> Any:
    """What stands at ``steps`` below ``root``, or MISSING. The value is not copied."""
    value = root
    for step in steps:
        value = _below(value, step)
        if value is MISSING:
            return MISSING
    return value


def nearest(root: Any, steps: Sequence[Step]) -> tuple[Any, int]:
    """The deepest value on the way that is there, and how many steps led to it."""
    value = root
    for taken, step in enumerate(steps):
        below = _below(value, step)
        if below is MISSING:
            return value, taken
        value = below
    return value, len(steps)


def _below(value: Any, step: Step) -> Any:
    if isinstance(value, dict):
        return value.get(step, MISSING) if isinstance(step, str) else MISSING
    if isinstance(value, list):
        if step == "length" and not isinstance(step, FilledKey):
            return len(value)
        index = index_of(step)
        return value[index] if index is not None and index < len(value) else MISSING
    return MISSING


def index_of(step: Step) -> int | None:
    """The number of the item that a step of a list means; None for one that is no number as JSON writes it."""
    if isinstance(step, int):
        return step
    # A key of thousands of digits is no index, and int() refuses to read it; 01 is a name, such as a postcode.
    if not 0 < len(step) < 10 or not _DIGITS.issuperset(step) or (step[0] == "0" and step != "0"):
        return None
    return int(step)


def put(
    root: dict[str, Any],
    steps: Sequence[Step],
    value: Any,
    *,
    append: bool = False,
    existing: Collection[int] = (),
) -> None:
    """Writes ``value`` at ``steps`` below ``root``, or adds it to the list there when ``append``.

    Objects that are missing on the way are made, and a missing list to append to; but not below a step whose
    number is in ``existing``: a key that an agent gave has to be there, or a mistyped id would make a ghost.
    Nothing is changed when TargetError is raised.
    """
    last = len(steps) - 1
    here, taken = nearest(root, steps[:-1])
    if taken < last:
        for number in range(taken, last + 1):
            if not isinstance(steps[number], str) or (number in existing and number < last):
                raise TargetError(_no_target(here, steps, number))
        if not isinstance(here, dict):
            raise TargetError(_no_target(here, steps, taken))
        branch: Any = [value] if append else value
        for step in reversed(steps[taken + 1 :]):
            branch = {_unfilled(step): branch}
        here[_unfilled(steps[taken])] = branch
    elif append and (present := _below(here, steps[-1])) is not MISSING:
        if not isinstance(present, list):
            raise TargetError(
                f"“{write(steps)}” is {kind(present)}, not a list, so nothing can be added to it."
            )
        present.append(value)
    elif isinstance(here, dict) and isinstance(steps[-1], str) and not (append and last in existing):
        here[_unfilled(steps[-1])] = [value] if append else value
    elif isinstance(here, list) and (index := index_of(steps[-1])) is not None and index < len(here):
        here[index] = value
    else:
        raise TargetError(_no_target(here, steps, last))


def _unfilled(step: Step) -> Step:
    return str(step) if isinstance(step, FilledKey) else step


def _no_target(here: Any, steps: Sequence[Step], number: int) -> str:
    home = f"“{write(steps[:number])}”" if number else "the state"
    return f"There is no “{write(steps[: number + 1])}” to change; {home} is {kind(here)}."


def write(steps: Iterable[Step]) -> str:
    """The text of a path; parsing it gives the same steps (an index as a number in brackets)."""
    text = ""
    for step in steps:
        if isinstance(step, int):
            text += f"[{step}]"
        elif step and not _SPECIAL.intersection(step) and step == step.strip():
            text += f".{step}" if text else step
        else:
            escaped = step.replace("\\", "\\\\").replace('"', '\\"')
            text += f'["{escaped}"]'
    return text


_SPECIAL = frozenset('.[]"')


def kind(value: Any) -> str:
    """What a JSON value is, with its article, for a sentence: ``a number``, ``an object``, ``nothing``."""
    if value is MISSING:
        return "nothing"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a boolean"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a text"
    return "a list" if isinstance(value, list) else "an object"


__all__ = [
    "MISSING",
    "FilledKey",
    "KeyPieces",
    "Missing",
    "Path",
    "PathError",
    "Piece",
    "Step",
    "TargetError",
    "get",
    "index_of",
    "kind",
    "nearest",
    "parse",
    "put",
    "split",
    "write",
]
