"""Finds the numbers in a text, each whole: with its sign, its groups of digits and its decimals, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

from rollout.verifiers._wording import SCALES

_GROUP: Final = r"[, \u00a0\u2009\u202f'’٬]"
_NUMBER: Final = re.compile(
    rf"""(?<![\w./])(?<!\w[-–−])(?<![0-9][,:⁄'’·٫٬，．：…~])(?<![$€£¥₹])(?<![$€£¥₹]\ )
        (?<![\w)]\^)(?<![\w)]\ \^\ )(?<![0-9)]\*\*)(?<![0-9)]\ \*\*\ )
        # not inside a word, an identifier such as O-10, a path, a power, or another number
        (?P<sign>[-–−]?)(?P<money>(?:[A-Z]{{1,3}})?[$€£¥₹]\ ?|[A-Z]{{3}}\ )?(?P<inner>[-–−]?)
        (?P<digits>(?:(?:[0-9]{{1,3}}(?:{_GROUP}[0-9]{{3}})+(?![0-9])|[0-9]+)(?:\.[0-9]+)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?)
        (?!\w)(?![-–−.,:/⁄'’·٫٬，．：…~$€£¥₹][0-9])(?!\.\.+[0-9])(?![-−](?!\w))
        (?!\ ?\^\ ?[\w(])(?!\*\*[0-9(])(?!\ \*\*\ [0-9(])
        (?!\ [0-9]+[/⁄][0-9])(?!\ \.[0-9])(?!\ ?[¼-¾⅐-⅞])""",
    re.VERBOSE,
)
_WORDS: Final = re.compile(r"[^\W\d_]+")
_MINUS: Final = re.compile(r"\b(?:minus|negative)\s{1,9}$", re.IGNORECASE)
_LARGER: Final = frozenset(SCALES) | {f"{scale}s" for scale in SCALES} | {
    "dozen", "k", "m", "mil", "mio", "mln", "mn", "bn", "mrd", "tn", "lakh", "crore",
}  # fmt: skip
_ENTITY: Final = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z]{2,31});")
_ADDRESS: Final = re.compile(r"\b[a-z][a-z0-9+.-]{1,20}://\S+", re.IGNORECASE)
_LONGEST: Final = 40

Number = int | float


def numbers_in(text: str) -> Iterator[Number]:
    """The numbers of a text. “minus 5” and “5 million” are none, as they are other numbers than 5.

    Nor are those in the address of a page; “5&nbsp;000” is 5000, as it is where it is shown.
    """
    text = _ADDRESS.sub(" ", _ENTITY.sub(lambda entity: unescape(entity[0]), text))
    for match in _NUMBER.finditer(text):
        if _MINUS.search(text[max(0, match.start() - 20) : match.start()]):
            continue
        following = (
            _WORDS.match(text, match.end() + 1) if text[match.end() : match.end() + 1].isspace() else None
        )
        if following is not None and following[0].casefold() in _LARGER:
            continue
        if (number := _value(match)) is not None:
            yield number


def number_of(term: str) -> Number | None:
    """The number that a text is, as ``100`` or ``-1,234.5``; None when it is anything else."""
    match = _NUMBER.fullmatch(term)
    return None if match is None or match["money"] else _value(match)


def _value(match: re.Match[str]) -> Number | None:
    digits = re.sub(_GROUP, "", match["digits"])
    if len(digits) > _LONGEST or (len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()):
        # A run of digits that starts with 0 is a name, such as a postcode.
        return None
    number = int(digits) if digits.isdigit() else float(digits)
    return -number if match["sign"] or match["inner"] else number


__all__ = ["number_of", "numbers_in"]
