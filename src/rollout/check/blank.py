"""Tells texts that show nothing: empty ones, white space, and characters that no reader sees."""

from __future__ import annotations

from typing import Any
from unicodedata import category

# Format characters and controls, separators, and characters that nothing is drawn for though they count as letters,
# marks or signs: the fillers of Hangul, the blank of Braille, the joiner of graphemes, and what selects a variant.
_UNSEEN = frozenset({"Cc", "Cf", "Zl", "Zp", "Zs"})
_FILLERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u2800\u3164\uffa0")


def is_blank(value: Any) -> bool:
    """Whether ``value`` is a text in which there is nothing to see."""
    if not isinstance(value, str):
        return False
    first = value[:1]
    # Nearly every text begins with a letter or a digit, which is seen.
    return not (first.isalnum() and first.isascii()) and all(map(_is_unseen, value))


def _is_unseen(character: str) -> bool:
    if character.isalnum() and character not in _FILLERS:
        return False
    return (
        category(character) in _UNSEEN
        or character in _FILLERS
        or "\ufe00" <= character <= "\ufe0f"
        or "\U000e0100" <= character <= "\U000e01ef"
    )


__all__ = ["is_blank"]
