"""Where a word or a number ends in a text: what is joined to it, and makes it another one."""

from __future__ import annotations

from typing import Final
from unicodedata import category, normalize

_SIGNS: Final = frozenset("-−–")
# 1.10, 1,100, 10:30 and 10/12 are each one number, one time, one fraction.
_JOINTS: Final = frozenset(".,:/⁄")


def composed(text: str) -> str:
    """A text in one form (NFC), so that é is é however it was typed."""
    return text if text.isascii() else normalize("NFC", text)


def is_word(character: str) -> bool:
    """Whether a character belongs to a word: letters, digits, _ and the marks on letters."""
    return character.isalnum() or character == "_" or category(character)[0] == "M"


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` is whole words and numbers, and not part of a longer word, number, time or range."""
    first, last = text[start], text[end - 1]
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    if before:
        if is_word(first) and is_word(before[-1]):
            return False
        if first.isdigit() and (
            before[-1] in _SIGNS or (before[-1] in _JOINTS and len(before) == 2 and before[0].isdigit())
        ):
            return False
    if after:
        if is_word(last) and is_word(after[0]):
            return False
        joins = after[0] in _JOINTS or after[0] in _SIGNS
        if last.isdigit() and joins and len(after) == 2 and after[1].isdigit():
            return False
    return True


__all__ = ["composed", "is_word", "stands_alone"]
