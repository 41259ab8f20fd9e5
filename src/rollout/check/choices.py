"""Tells whether a word of an instruction is one of several that the agent is to choose from, and so gives nothing away.

“Is it open, closed or pending?”, “approved/rejected”, `["low", "high"]`, and lists with a dash or a letter before each
line are choices; so is “Alice and Bob” after “which of”.
"""

from __future__ import annotations

import re

_BEFORE = re.compile(
    r"(?:(?P<sign>[,;/|:])|\b(?P<word>or|and|either|nor|vs\.?|versus))\s*[\"'“‘`(\[*_]*\Z", re.I
)
_BEHIND = re.compile(r"[\"'”’`)\]*_]*\s*(?:(?P<sign>[,;/|])|(?P<word>or|and|nor|vs\.?|versus)\b)", re.I)
_ASKS_TO_CHOOSE = re.compile(
    r"\b(?:or|either|one of|which|who|whom|whose|whether|between|among|choose|pick|select|options?|choices?|classif\w*"
    r"|label\w*|categor\w*|categories|compare\w*|possible|allowed|values)\b",
    re.I,
)
_ITEM = re.compile(r"^[ \t]*(?:[-*•]|\(?[A-Za-z0-9]{1,2}[.):])[ \t]+(?=\S)", re.M)
_LABEL = re.compile(r"(?<![A-Za-z0-9])\(?[A-Za-z0-9][.):][ \t]*[\"'“‘]?\Z")
_LABELS = re.compile(r"(?<![A-Za-z0-9])\(?[A-Ha-h1-9][.):][ \t]")
_SENTENCE_END = re.compile(r"[.?!](?=\s)|\n")


def is_choice(text: str, start: int, end: int) -> bool:
    """Whether the words at ``text[start:end]`` are one of several that are offered."""
    before, behind = _BEFORE.search(text[:start]), _BEHIND.match(text[end:])
    sentence = _sentence(text, start, end)
    for found in (before, behind):
        if found is None:
            continue
        word, sign = (found["word"] or "").lower(), found["sign"]
        if word not in ("", "and") or sign in ("/", "|"):
            return True
        is_listed = sign != ":" and _is_in_brackets(text, start, end)
        if is_listed or _ASKS_TO_CHOOSE.search(sentence):
            return True
    return _is_item(text, start)


def _sentence(text: str, start: int, end: int) -> str:
    ends = [found.end() for found in _SENTENCE_END.finditer(text, 0, start)]
    behind = _SENTENCE_END.search(text, end)
    return text[ends[-1] if ends else 0 : behind.start() + 1 if behind else len(text)]


def _is_in_brackets(text: str, start: int, end: int) -> bool:
    return any(
        text.rfind(opening, 0, start) > text.rfind(closing, 0, start) and closing in text[end:]
        for opening, closing in ("[]", "{}", "()")
    )


def _is_item(text: str, start: int) -> bool:
    """Whether it stands in a line of a list, or right behind a letter as options have."""
    if _LABEL.search(text[:start]) and len(_LABELS.findall(text)) > 1:
        return True
    line = text.rfind("\n", 0, start) + 1
    return _ITEM.match(text, line) is not None and len(_ITEM.findall(text)) > 1


__all__ = ["is_choice"]
