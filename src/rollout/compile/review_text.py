"""A review for a terminal: what changed, grouped by what it does, and the verdict on old runs below."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rollout.compile.change import Difference, Effect, Kind
from rollout.compile.line_changes import line_changes
from rollout.compile.lookalikes import telling
from rollout.compile.masked import masked
from rollout.compile.review import Entry, Told, is_line_change, told

_SIGNS = {Kind.ADDED: "+", Kind.REMOVED: "-", Kind.CHANGED: "~"}
_COLORS = {Kind.ADDED: "32", Kind.REMOVED: "31", Kind.CHANGED: "33"}
_HEADINGS = {
    Effect.AGENT: "the agent sees",
    Effect.GRADING: "grading",
    Effect.PERHAPS: "perhaps grading",
    Effect.METADATA: "metadata only",
}
_LONGEST = 96
_MOST_ALIKE = 6


def render(entries: Sequence[Entry], *, color: bool = False) -> str:
    """The review as text, without a line break at its end. Entries without a difference take one line."""
    return "\n\n".join("\n".join(_entry(masked(entry), _Paint(color))) for entry in entries)


class _Paint:
    def __init__(self, color: bool) -> None:
        self._color = color

    def __call__(self, text: str, code: str) -> str:
        return f"\x1b[{code}m{text}\x1b[0m" if self._color else text


def _entry(entry: Entry, paint: _Paint) -> Iterator[str]:
    difference = entry.difference
    slug = telling(difference.slug) if difference else ""
    label = telling(entry.label)
    head = f"{slug}  {label}" if slug and slug != label.rpartition("/")[2] else label
    yield paint(head if difference else f"{head}: cannot be compared", "1")
    if difference is None:
        yield f"  {paint(telling(entry.conclusion), '31')}"
        return
    width = min(max((len(change.subject) for change in difference.changes), default=0), 14)
    for effect, changes in told(difference, longest=_LONGEST):
        yield f"  {_HEADINGS[effect]}"
        folded = _foldable(changes) if effect is Effect.METADATA else {}
        for each in changes:
            if (group := folded.get((each.change.kind, each.change.subject))) is None:
                yield from _change(each, width, paint)
            elif each is group[0]:
                yield _fold(group, width, paint)
    for note in difference.notes:
        yield f"  note: {telling(note)}"
    for sentence in entry.errors:
        yield f"  {paint('error', '31')}: {telling(sentence)}"
    yield f"  {paint(telling(difference.conclusion), '32' if difference.is_comparable else '33')}"
    if digests := _digests(difference):
        yield f"  {paint(digests, '2')}"


def _change(told: Told, width: int, paint: _Paint) -> Iterator[str]:
    change = told.change
    sign = paint(_SIGNS[change.kind], _COLORS[change.kind])
    head = f"    {sign} {change.subject:<{width}}  {told.label}"
    yield f"{head}: {told.words}" if told.words else head
    if is_line_change(change):
        for line in line_changes(change):
            code = {"+": "32", "-": "31", "@": "36"}.get(line[:1], "")
            yield f"        {paint(line, code) if code else line}".rstrip()


def _foldable(changes: Sequence[Told]) -> dict[tuple[Kind, str], list[Told]]:
    # Forty new solutions are one piece of news, and not the one that a reviewer came for.
    groups: dict[tuple[Kind, str], list[Told]] = {}
    for each in changes:
        groups.setdefault((each.change.kind, each.change.subject), []).append(each)
    return {key: group for key, group in groups.items() if len(group) > _MOST_ALIKE}


def _fold(group: Sequence[Told], width: int, paint: _Paint) -> str:
    first = group[0].change
    sign = paint(_SIGNS[first.kind], _COLORS[first.kind])
    names = ", ".join(each.label for each in group[:3])
    return f"    {sign} {first.subject:<{width}}  {len(group)} times: {names}, …"


def _digests(difference: Difference) -> str:
    before, after = difference.before, difference.after
    if before is not None and after is not None:
        return before.digest if before.digest == after.digest else f"{before.digest} → {after.digest}"
    version = before or after
    return version.digest if version else ""


__all__ = ["render"]
