"""The lines of a text that changed, as a unified diff in which no two lines that differ are shown as the same."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from itertools import groupby, pairwise
from typing import Any

from rollout.compile.change import Change
from rollout.compile.cutting import cut, cut_apart, start_alike
from rollout.compile.lookalikes import apart, rivals, tabbed

_CONTEXT = 2
_MARGIN = 60
"""How much is shown on either side of a difference within a line that is too long to be shown whole."""
_MOST_COMPARED = 40
"""Of how many lines that were replaced each is compared with each, to find the one it became."""


def line_changes(change: Change, longest: int | None = None) -> Iterator[str]:
    """The unified diff of a change, without its head: lines that begin with `-`, `+`, a space or `@@`.

    Where ``longest`` is given, no line has more characters: a longer one is shown around what changed in it.
    """
    from difflib import unified_diff

    before, after = (_lines(side) for side in (change.before, change.after))
    if (before[-1] == "") != (after[-1] == ""):
        # Without a mark, a line break at the very end would be a change that does not show.
        longer = before if before[-1] == "" else after
        longer[-1] = "(line break at the end)"
    for side in (before, after):
        if side[-1] == "":
            side.pop()
    lines = list(unified_diff(before, after, n=_CONTEXT, lineterm=""))[2:]
    shown = _shown(lines, longest)
    for line in lines:
        text = shown.get(line) or line[:1] + tabbed(line[1:])
        yield text if longest is None else cut(text, longest)


def _shown(lines: Sequence[str], longest: int | None) -> dict[str, str]:
    """What is shown of the lines that came or went."""
    partners = dict(_partners(lines))
    alone = {sign: [line[1:] for line in lines if line[0] == sign and line not in partners] for sign in "-+"}
    for sign, other in ("-+", "+-"):
        found = rivals(alone[sign], (line[1:] for line in lines if line[0] == other))
        partners |= {sign + text: other + rival for text, rival in found.items()}
    shown = {}
    for line, partner in partners.items():
        is_long = longest is not None and max(len(line), len(partner)) > longest
        shown[line] = line[0] + apart(line[1:], partner[1:], margin=_MARGIN if is_long else None)[0]
    if longest is not None:
        rest = {line: line[0] + tabbed(line[1:]) for line in lines if line[0] in "-+" and line not in shown}
        fitting = cut_apart(rest.values(), longest)
        shown |= {line: fitting[text] for line, text in rest.items()}
    return shown


def _partners(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Each line that became another with that one, both ways."""
    blocks = [(sign, list(group)) for sign, group in groupby(lines, lambda line: line[0])]
    for (sign, old), (other, new) in pairwise(blocks):
        if (sign, other) == ("-", "+"):
            for line, partner in _paired(old, new):
                yield line, partner
                yield partner, line


def _paired(old: list[str], new: list[str]) -> Iterator[tuple[str, str]]:
    if len(old) == len(new) or max(len(old), len(new)) > _MOST_COMPARED:
        yield from zip(old, new, strict=False)
        return
    free = list(new)
    for line in old:
        if not free:
            return
        likest = max(free, key=lambda each: _in_common(line, each))
        common = _in_common(line, likest)
        if common >= _MARGIN or 2 * common >= max(len(line), len(likest)) - 1:
            yield line, likest
            free.remove(likest)


def _in_common(line: str, other: str) -> int:
    """How many characters the texts of two lines of a diff begin and end with alike."""
    one, another = line[1:], other[1:]
    start = start_alike(one, another)
    return start + start_alike(one[start:][::-1], another[start:][::-1])


def _lines(value: Any) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return text.split("\n")


__all__ = ["line_changes"]
