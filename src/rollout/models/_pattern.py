"""Draws a text that a regular expression matches, from the tree that Python's own parser makes of it."""

from __future__ import annotations

import re
from random import Random
from re import _constants as constants
from re import _parser as parser
from typing import Any

_LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
_CLASSES = {
    constants.CATEGORY_DIGIT: "0123456789",
    constants.CATEGORY_SPACE: " ",
    constants.CATEGORY_WORD: _LETTERS + "_",
    constants.CATEGORY_NOT_DIGIT: "abc-",
    constants.CATEGORY_NOT_SPACE: _LETTERS,
    constants.CATEGORY_NOT_WORD: " -.",
}
_PRINTED = "".join(map(chr, range(32, 127)))
_MOST_MORE = 4


def draw_match(pattern: str, random: Random) -> str | None:
    """A text in which ``pattern`` is found, or None where it asks for what cannot be drawn, such as a lookahead."""
    try:
        return "".join(_draw(parser.parse(pattern), random, {}))
    except (re.error, _CannotDraw, OverflowError, RecursionError):
        return None


class _CannotDraw(Exception):
    pass


def _draw(nodes: Any, random: Random, groups: dict[int, str]) -> list[str]:
    drawn: list[str] = []
    for kind, told in nodes:
        if kind is constants.LITERAL:
            drawn.append(chr(told))
        elif kind is constants.NOT_LITERAL:
            drawn.append(random.choice(_PRINTED.replace(chr(told), "")))
        elif kind is constants.ANY:
            drawn.append(random.choice(_LETTERS))
        elif kind is constants.IN:
            drawn.append(_member(told, random))
        elif kind is constants.BRANCH:
            drawn += _draw(random.choice(told[1]), random, groups)
        elif kind is constants.SUBPATTERN:
            text = "".join(_draw(told[3], random, groups))
            groups[told[0]] = text
            drawn.append(text)
        elif kind in (constants.MAX_REPEAT, constants.MIN_REPEAT, constants.POSSESSIVE_REPEAT):
            least, most, repeated = told
            if least > 10_000:
                raise _CannotDraw
            for _ in range(random.randint(least, min(int(most), least + _MOST_MORE))):
                drawn += _draw(repeated, random, groups)
        elif kind is constants.ATOMIC_GROUP:
            drawn += _draw(told, random, groups)
        elif kind is constants.GROUPREF:
            drawn.append(groups.get(told, ""))
        elif kind is not constants.AT:
            raise _CannotDraw
    return drawn


def _member(told: Any, random: Random) -> str:
    chosen: set[str] = set()
    negated = False
    for kind, value in told:
        if kind is constants.NEGATE:
            negated = True
        elif kind is constants.LITERAL:
            chosen.add(chr(value))
        elif kind is constants.RANGE:
            chosen.update(map(chr, range(value[0], min(value[1], value[0] + 255) + 1)))
        elif kind is constants.CATEGORY:
            chosen.update(_CLASSES[value])
    members = sorted(set(_PRINTED) - chosen if negated else chosen)
    if not members:
        raise _CannotDraw
    return random.choice(members)


__all__ = ["draw_match"]
