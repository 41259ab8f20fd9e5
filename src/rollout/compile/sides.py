"""Pairs the environments of two sides — two folders, or a revision and the work tree — and compares each pair."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rollout.check.report import Report
from rollout.compile.diff import appeared, diff, disappeared
from rollout.compile.review import Entry
from rollout.environment import Environment


@dataclass(frozen=True, slots=True)
class Side:
    """One environment of one side. ``path`` tells it from the others there; ``label`` is what a person is shown.

    ``environment`` is None where it cannot be read or has errors; ``trouble`` then says why, in a sentence.
    ``report`` is the check's, where what it says can be shown; ``errors`` is a sentence where it found any.
    ``has_local`` is False for what never has ids and solutions, such as a compiled file. ``is_sure`` is False where it
    only may have changed: without a difference there is nothing to tell of it.
    """

    path: str
    slug: str
    label: str
    environment: Environment | None
    trouble: str | None = None
    report: Report | None = None
    has_local: bool = True
    errors: str | None = None
    is_sure: bool = True

    @property
    def has_errors(self) -> bool:
        """Whether the check found errors in it."""
        return self.errors is not None


def compare_sides(before: Sequence[Side], after: Sequence[Side], *, lone_pair: bool = True) -> list[Entry]:
    """One entry for every environment of either side, in the order of their labels.

    They are paired by path and slug, then by path, then by slug: an environment that moved is still the same one.
    With ``lone_pair``, where each side has exactly one, the two are a pair whatever they are called. Several of one
    slug on the new side are told of in the notes: the platform knows an environment by nothing else.
    """
    old, new = list(before), list(after)
    pairs: list[tuple[Side | None, Side | None]] = []
    if lone_pair and len(old) == len(new) == 1:
        return [_entry(old[0], new[0])]
    for traits in (("path", "slug"), ("path",), ("slug",)):
        for there in list(new):
            key = [getattr(there, trait) for trait in traits]
            match = next((here for here in old if [getattr(here, trait) for trait in traits] == key), None)
            if match is not None:
                pairs.append((match, there))
                old.remove(match)
                new.remove(there)
    pairs += [(None, there) for there in new]
    pairs += [(here, None) for here in old]
    entries = [
        entry
        for here, there in pairs
        if (entry := _with_twins(_entry(here, there), there, after)).differs
        or any(side.is_sure for side in (here, there) if side is not None)
    ]
    return sorted(entries, key=lambda entry: entry.label)


def _with_twins(entry: Entry, side: Side | None, after: Sequence[Side]) -> Entry:
    """``entry`` with a note where other environments of the new side have its slug too."""
    if side is None or entry.difference is None:
        return entry
    twins = [each for each in after if each.slug == side.slug and each is not side]
    if not twins:
        return entry
    named = ", ".join(f"“{each.label}”" for each in twins[:3]) + (" and more" if len(twins) > 3 else "")
    note = f"{named} {'has' if len(twins) == 1 else 'have'} the slug “{side.slug}” too: each needs one of its own."
    return replace(entry, difference=replace(entry.difference, notes=(*entry.difference.notes, note)))


def _entry(before: Side | None, after: Side | None) -> Entry:
    side = after or before
    assert side is not None
    for each in (after, before):
        if each is not None and each.environment is None:
            return Entry(side.label, None, each.trouble)
    told = dict.fromkeys(each.errors for each in (before, after) if each is not None)
    errors = tuple(sentence for sentence in told if sentence is not None)
    if before is None or before.environment is None:
        assert after is not None and after.environment is not None
        return Entry(side.label, appeared(after.environment), errors=errors)
    if after is None or after.environment is None:
        return Entry(side.label, disappeared(before.environment), errors=errors)
    local = before.has_local and after.has_local
    return Entry(side.label, diff(before.environment, after.environment, local=local), errors=errors)


__all__ = ["Side", "compare_sides"]
