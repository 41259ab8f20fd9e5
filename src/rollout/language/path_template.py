"""A path with placeholders in it, such as ``orders.${args.order_id}.items``: one placeholder, one step at most.

What is filled in is never split at its dots: for an order ``a.b`` the path above looks for the key ``a.b``.
It is a key, or the index of an item as JSON writes it, but never the length of a list.
"""

from __future__ import annotations

from dataclasses import dataclass

from rollout.language.interpolation import Scope, SegmentError, key_of
from rollout.language.paths import FilledKey, KeyPieces, PathError, Piece, Step, split
from rollout.language.placeholders import Interpolation, Placeholder, parse


@dataclass(frozen=True, slots=True)
class PathTemplate:
    """A parsed path template. ``filled`` are the numbers of the steps that hold a placeholder."""

    text: str
    pieces: tuple[KeyPieces | int, ...]
    appends: bool
    filled: frozenset[int]

    @property
    def known(self) -> tuple[Step, ...]:
        """The steps before the first placeholder: what can be said of the path before anything is filled in."""
        steps: list[Step] = []
        for number, step in enumerate(self.pieces):
            if number in self.filled:
                break
            steps.append(step if isinstance(step, int) else "".join(map(str, step)))
        return tuple(steps)

    def fill(self, scope: Scope) -> tuple[Step, ...]:
        """The steps with all placeholders filled in.

        Raises FillError: nothing is there, or it is an object or a list, which is no name.
        """
        return tuple(step if isinstance(step, int) else _fill_key(step, scope) for step in self.pieces)


def parse_path_template(text: str, *, appending: bool = False) -> PathTemplate:
    """Parses a path template; ``[]`` at its end is accepted only when ``appending``.

    Raises PathError, with offsets into ``text``, for a bad path and for a malformed placeholder.
    """
    parsed = parse(text)
    if parsed.faults:
        fault = parsed.faults[0]
        raise PathError(fault.message, fault.start, fault.end, fault.hint)
    pieces, offsets = _pieces(parsed)
    try:
        steps, appends = split(pieces, appending=appending)
    except PathError as error:
        raise PathError(error.message, offsets[error.start], offsets[error.end], error.hint) from None
    filled = frozenset(
        number
        for number, step in enumerate(steps)
        if not isinstance(step, int) and not all(isinstance(piece, str) for piece in step)
    )
    return PathTemplate(text, tuple(steps), appends, filled)


def _pieces(parsed: Interpolation) -> tuple[list[Piece], list[int]]:
    pieces: list[Piece] = []
    offsets: list[int] = []
    at = 0
    for part in parsed.parts:
        if isinstance(part, str):
            for character in part:
                # "$${" in the text stands for "${", so the literal is one character shorter.
                escaped = parsed.text.startswith("$${", at)
                pieces.append(character)
                offsets.append(at)
                at += 2 if escaped else 1
        else:
            pieces.append(part)
            offsets.append(at)
            at = part.end
    return pieces, [*offsets, at]


def _fill_key(step: KeyPieces, scope: Scope) -> str:
    text = ""
    for piece in step:
        if isinstance(piece, Placeholder):
            text += key_of(piece, scope)
        else:
            text += str(piece)
    return FilledKey(text) if any(isinstance(piece, Placeholder) for piece in step) else text


__all__ = ["PathTemplate", "SegmentError", "parse_path_template"]
