"""What a review shows: the difference of each environment, or the sentence that says why it cannot be told."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from rollout.compile.change import Change, Difference, Effect, Kind
from rollout.compile.cutting import cut, cut_apart
from rollout.compile.lookalikes import apart, rivals, telling

_SIDE_BY_SIDE = 76
_UNTOLD = ("solution", "column")
"""Subjects of which the label says enough."""
_FILES = ("file", "hidden file", "judging file", "file beside", "schema", "seed", "description")
"""Subjects of which no more is told than how many lines came or went."""
_COUNTERPARTS = {Kind.ADDED: Kind.REMOVED, Kind.REMOVED: Kind.ADDED}


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


@dataclass(frozen=True, slots=True)
class Told:
    """A change with what a person is shown of it on a line: ``words`` say what happened to what ``label`` names."""

    change: Change
    label: str
    words: str


def is_line_change(change: Change) -> bool:
    """Whether both sides are best shown line by line: text of several lines, or what is too long for one."""
    if change.kind is not Kind.CHANGED or change.subject in _UNTOLD:
        return False
    if isinstance(change.before, str) and isinstance(change.after, str):
        return "\n" in change.before + change.after or len(change.before) + len(change.after) > _SIDE_BY_SIDE
    return len(_one_line(change.before)) + len(_one_line(change.after)) > _SIDE_BY_SIDE


def in_words(change: Change, longest: int) -> str:
    """What happened, behind the subject and the label: ``1 → 2``, or the value that came or went."""
    if is_line_change(change) or change.subject in _UNTOLD:
        return ""
    if change.kind is Kind.CHANGED:
        both = apart(_json(change.before), _json(change.after), margin=longest // 6)
        return " → ".join(cut(each, longest) for each in both)
    return cut(telling(_value(change)), longest)


def told(
    difference: Difference, *, longest: int, longest_label: int | None = None
) -> Iterator[tuple[Effect, list[Told]]]:
    """The changes of each effect that has any, with their words.

    What came and what went is told apart, however alike the two look or begin.
    """
    labels = _told_apart([(change, change.label) for change in difference.changes], longest_label)
    one_sided = [change for change in difference.changes if change.kind is not Kind.CHANGED]
    values = _told_apart([(change, _value(change)) for change in one_sided], longest)
    for effect, changes in by_effect(difference):
        yield (
            effect,
            [
                Told(change, labels[id(change)], values.get(id(change)) or in_words(change, longest))
                for change in changes
            ],
        )


def _told_apart(texts: Sequence[tuple[Change, str]], longest: int | None) -> dict[int, str]:
    """What is shown of the text of each change, by the change's ``id``."""
    of_kind: dict[tuple[str, Kind], dict[str, None]] = defaultdict(dict)
    for change, text in texts:
        of_kind[change.subject, change.kind][text] = None
    shown: dict[tuple[str, Kind, str], str] = {}
    for (subject, kind), group in of_kind.items():
        others = of_kind.get((subject, _COUNTERPARTS[kind]), {}) if kind in _COUNTERPARTS else {}
        found = rivals(group, others)
        for text in group:
            shown[subject, kind, text] = apart(text, found[text])[0] if text in found else telling(text)
    if longest is not None:
        for subject in {subject for subject, _ in of_kind}:
            keys = [key for key in shown if key[0] == subject]
            fitting = cut_apart((shown[key] for key in keys), longest)
            shown |= {key: fitting[shown[key]] for key in keys}
    return {id(change): shown[change.subject, change.kind, text] for change, text in texts}


def _value(change: Change) -> str:
    """What came or went, as far as a line can tell it."""
    value = change.after if change.kind is Kind.ADDED else change.before
    if change.subject in _UNTOLD:
        return ""
    if change.subject == "task" and isinstance(value, dict):
        return _json(value.get("instruction"))
    if change.subject in _FILES and isinstance(value, str):
        lines = value.count("\n") + (not value.endswith("\n"))
        return f"{lines} {'line' if lines == 1 else 'lines'}"
    return _json(value)


def by_effect(difference: Difference) -> Iterator[tuple[Effect, list[Change]]]:
    """The changes of each effect that has any."""
    for effect in Effect:
        if changes := [change for change in difference.changes if change.effect is effect]:
            yield effect, changes


def _one_line(value: Any) -> str:
    return telling(_json(value))


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


__all__ = [
    "Entry",
    "Told",
    "by_effect",
    "in_words",
    "is_line_change",
    "told",
]
