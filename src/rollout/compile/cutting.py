"""Cuts long texts for a review: around what parts them, so that two that differ are never cut to the same."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

_HEAD = 40
"""How much of its beginning is shown of a text that is cut farther in."""
_LEAD = 40
"""How much is shown before the place where two texts part."""


def cut(text: str, longest: int) -> str:
    """``text``, or its beginning with a mark behind it, in ``longest`` characters."""
    return text if len(text) <= longest else text[: longest - 1] + "…"


def counted(text: str, longest: int) -> str:
    """``text``, or ``longest`` characters of it and how many there are more."""
    more = len(text) - longest
    return text if more <= 0 else f"{text[:longest]}… ({more:,} more characters)"


def cut_apart(texts: Iterable[str], longest: int) -> dict[str, str]:
    """What is shown of each text in ``longest`` characters: those that begin alike are cut where they part."""
    return _cut_apart(set(texts), longest, longest - _HEAD - 1)


def _cut_apart(texts: set[str], longest: int, rest: int) -> dict[str, str]:
    alike: dict[str, set[str]] = defaultdict(set)
    for text in texts:
        alike[cut(text, longest)].add(text)
    shown: dict[str, str] = {}
    for short, group in alike.items():
        if len(group) == 1:
            shown |= dict.fromkeys(group, short)
            continue
        start = start_alike(min(group), max(group)) - _LEAD
        tails = _cut_apart({text[start:] for text in group}, rest, rest)
        head = f"{short[:_HEAD]}…" if longest > rest else ""
        shown |= {text: head + tails[text[start:]] for text in group}
    return shown


def start_alike(one: str, other: str) -> int:
    """How many characters both begin with."""
    shorter = min(len(one), len(other))
    if one[:shorter] == other[:shorter]:
        return shorter
    return next(at for at in range(shorter) if one[at] != other[at])


__all__ = ["counted", "cut", "cut_apart", "start_alike"]
