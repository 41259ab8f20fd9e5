"""What a review shows: the difference of each environment, or the sentence that says why it cannot be told."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from rollout.compile.change import Change, Difference, Effect, Kind
from rollout.compile.lookalikes import apart, drawn, telling

_CONTEXT = 2
_SIDE_BY_SIDE = 76
_UNTOLD = ("solution", "column")
"""Subjects of which the label says enough."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One environment under review. ``label`` is its path, as a person knows it.

    ``trouble`` is given, and no difference, where one side cannot be read: nothing is known then, so nothing is
    comparable. ``errors`` has a sentence for each side that has errors and can be compared all the same.
    """

    label: str
    difference: Difference | None
    trouble: str | None = None
    errors: tuple[str, ...] = ()

    @property
    def differs(self) -> bool:
        """Whether there is something to review."""
        return self.difference is None or not self.difference.is_empty

    @property
    def is_settled(self) -> bool:
        """Whether nothing has to be said of it: both sides mean the same, are sound, and are known whole."""
        return not self.differs and self.is_comparable and not self.errors

    @property
    def is_comparable(self) -> bool:
        """Whether old runs of it stay comparable."""
        return self.difference is not None and self.difference.is_comparable

    @property
    def conclusion(self) -> str:
        """What it comes to, in one sentence."""
        if self.difference is None:
            return self.trouble or ""
        return self.difference.conclusion


def shown(value: Any, longest: int) -> str:
    """A JSON value on one line of at most ``longest`` characters."""
    return _cut(_one_line(value), longest)


def is_line_change(change: Change) -> bool:
    """Whether both sides are best shown line by line: text of several lines, or what is too long for one."""
    if change.kind is not Kind.CHANGED or change.subject in _UNTOLD:
        return False
    if isinstance(change.before, str) and isinstance(change.after, str):
        return "\n" in change.before + change.after or len(change.before) + len(change.after) > _SIDE_BY_SIDE
    return len(_one_line(change.before)) + len(_one_line(change.after)) > _SIDE_BY_SIDE


def line_changes(change: Change) -> Iterator[str]:
    """The unified diff of such a change, without its head: lines that begin with `-`, `+`, a space or `@@`."""
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
    parted = _parted(lines)
    for line in lines:
        if line in parted:
            yield line[0] + parted[line]
        else:
            # Tabs are part of code; everything else that moves the cursor is shown by name.
            yield "\t".join(telling(part) for part in line.split("\t"))


def _parted(lines: list[str]) -> dict[str, str]:
    """The lines of a diff that look like one of the other side, each with what is shown of it."""
    sides = {sign: {drawn(line[1:]): line[1:] for line in lines if line[0] == sign} for sign in "-+"}
    parted: dict[str, str] = {}
    for line in lines:
        other = sides["+" if line[0] == "-" else "-"].get(drawn(line[1:])) if line[0] in "-+" else None
        if other is not None and (both := apart(line[1:], other)) is not None:
            parted[line] = both[0]
    return parted


def in_words(change: Change, longest: int) -> str:
    """What happened, behind the subject and the label: ``1 → 2``, or the value that came or went."""
    if is_line_change(change) or change.subject in _UNTOLD:
        return ""
    if change.kind is Kind.CHANGED:
        before, after = _json(change.before), _json(change.after)
        if (parted := apart(before, after)) is not None:
            return " → ".join(_cut(each, longest) for each in parted)
        return f"{shown(change.before, longest // 2)} → {shown(change.after, longest // 2)}"
    value = change.after if change.kind is Kind.ADDED else change.before
    if change.subject == "task" and isinstance(value, dict):
        return shown(value.get("instruction"), longest)
    if change.subject in (
        "file",
        "hidden file",
        "judging file",
        "file beside",
        "schema",
        "seed",
        "description",
    ) and isinstance(value, str):
        lines = value.count("\n") + (not value.endswith("\n"))
        return f"{lines} {'line' if lines == 1 else 'lines'}"
    return shown(value, longest)


def by_effect(difference: Difference) -> Iterator[tuple[Effect, list[Change]]]:
    """The changes of each effect that has any."""
    for effect in Effect:
        if changes := [change for change in difference.changes if change.effect is effect]:
            yield effect, changes


def _one_line(value: Any) -> str:
    return telling(_json(value))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _cut(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _lines(value: Any) -> list[str]:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)
    return text.split("\n")


__all__ = [
    "Entry",
    "by_effect",
    "in_words",
    "is_line_change",
    "line_changes",
    "shown",
]
