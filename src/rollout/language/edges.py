"""Where a word or a number ends in a text: what is joined to it, and makes it another one."""

from __future__ import annotations

import re
from typing import Final
from unicodedata import category, normalize

_SIGNS: Final = r"\-−–"
_HYPHENS: Final = r"\-‐‑–"
# 1.10, 1,100, 10:30, 10/12 and 1'000 are each one number, one time, one fraction; so they are in other scripts.
_JOINTS: Final = ".,:/⁄'’·٫٬，．："
_MONEY: Final = "$€£¥₹"
# C++ is not in C+++, and --all not in ---all.
# Nor is .env in prod.env, /tmp in /var/tmp, or @ann in joe@ann.com.
_JOINING: Final = "./\\@#:"
_REPEATED: Final = "+#*-=%&@/\\~^|<>$"
_JOINED_BEFORE: Final = re.compile(
    rf"""\d[{_JOINTS}]$|[{_SIGNS}]$
        |[{_SIGNS}](?:[A-Z]{{1,3}})?[{_MONEY}]\ ?$|[{_SIGNS}][A-Z]{{3}}\ $""",
    re.VERBOSE,
)
_JOINED_AFTER: Final = re.compile(rf"[{_JOINTS}{_SIGNS}]\d|\ ?[¼-¾⅐-⅞]|\ \.\d|\ \d+[/⁄]\d", re.VERBOSE)
# “can” is not in “can't”, “C” not in “C++” or “C#”, and “refund” neither in “non-refund” nor in “refund-free”.
_DENIED_BEFORE: Final = re.compile(
    rf"(?<![^\W\d_])(?:un|non|not|no|never|anti|dis|de|mis|ex|pseudo|quasi)[{_HYPHENS}]$", re.IGNORECASE
)
_DENIED_AFTER: Final = re.compile(rf"['’＇]t\b|[{_HYPHENS}](?:free|less)\b|[+#](?!\w)", re.IGNORECASE)
_SIGNED: Final = re.compile(rf"[{_SIGNS}](?:[A-Z]{{1,3}})?$")
_SPACE: Final = "[ \u00a0\u2009\u202f]"
_GROUPS_BEFORE: Final = re.compile(rf"(?<!\d)\d{{1,3}}(?:{_SPACE}\d{{3}})*{_SPACE}$")
_GROUP_AFTER: Final = re.compile(rf"{_SPACE}\d{{3}}(?!\d)")
_FURTHEST: Final = 24
_SHORT_RUN: Final = re.compile(r"(?<!\d)\d{1,3}$")


def composed(text: str) -> str:
    """A text in one form (NFC), so that é is é however it was typed."""
    return text if text.isascii() else normalize("NFC", text)


def is_word(character: str) -> bool:
    """Whether a character belongs to a word: letters, digits, _ and the marks on letters."""
    return character.isalnum() or character == "_" or category(character)[0] == "M"


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether ``text[start:end]`` is whole words and numbers, and not part of a longer word, number, time or range."""
    first, last = text[start], text[end - 1]
    before, after = text[max(0, start - _FURTHEST) : start], text[end : end + _FURTHEST]
    if before:
        if is_word(first) and is_word(before[-1]):
            return False
        if (first in _REPEATED and before[-1] == first) or (first in _JOINING and is_word(before[-1])):
            return False
        if first.isdigit() and (
            _JOINED_BEFORE.search(before) or _follows_group(text[start:end], before, after)
        ):
            return False
        if first in _MONEY and _SIGNED.search(before):
            return False
        if is_word(first) and _DENIED_BEFORE.search(before):
            return False
    if after:
        if is_word(last) and is_word(after[0]):
            return False
        if last in _REPEATED and after[0] == last:
            return False
        if last.isalpha() and _DENIED_AFTER.match(after):
            return False
        if last.isdigit() and (_JOINED_AFTER.match(after) or _leads_group(text[start:end], after)):
            return False
    return True


def _follows_group(found: str, before: str, after: str) -> bool:
    """Whether digits go on a number before them: the 000 of “49 000”."""
    digits = re.match(r"\d+", found + after)
    return digits is not None and len(digits[0]) == 3 and _GROUPS_BEFORE.search(before) is not None


def _leads_group(found: str, after: str) -> bool:
    """Whether digits go on in a group after them: the 49 of “49 000”."""
    return _SHORT_RUN.search(found) is not None and _GROUP_AFTER.match(after) is not None


__all__ = ["composed", "is_word", "stands_alone"]
