"""A review for a pull request's comment: a table of verdicts, and the changes of each environment folded away.

Nothing that an environment says can leave its place: values stand in code spans or fences longer than any row of
backticks in them, so no mention, link or HTML in them is alive; what does not show is escaped.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping, Sequence

from rollout.compile.change import Difference, Effect, Kind
from rollout.compile.cutting import cut
from rollout.compile.line_changes import line_changes
from rollout.compile.lookalikes import telling
from rollout.compile.masked import masked
from rollout.compile.review import Entry, Told, is_line_change, told

LIMIT = 60_000
"""Characters that a review takes at most; a comment on GitHub may have 65,536."""

_ROWS = 100
_NOTES = 10
_LINES = 80
_LONGEST = 200
_LONGEST_LINE = 400
_TAIL = 400
_COUNTED = {
    Effect.AGENT: "that the agent sees",
    Effect.GRADING: "of the grading",
    Effect.PERHAPS: "perhaps of the grading",
    Effect.METADATA: "of metadata only",
}
_HEADINGS = {
    Effect.AGENT: "The agent sees",
    Effect.GRADING: "Grading",
    Effect.PERHAPS: "Perhaps grading",
    Effect.METADATA: "Metadata only",
}


def render(entries: Sequence[Entry], notes: Sequence[str] = ()) -> str:
    """The review as GitHub-flavoured Markdown of at most LIMIT characters, without a line break at its end.

    ``notes`` are sentences about all of it; the first few are shown.
    """
    said = [f"Note: {_code(note, 1_000)}" for note in notes[:_NOTES]]
    told = [masked(entry) for entry in entries if not entry.is_settled]
    if not told:
        count = "The environment means" if len(entries) == 1 else f"All {len(entries)} environments mean"
        same = f"**No difference.** {count} the same as before; old runs stay comparable."
        return "\n\n".join([same, *said])
    page = _Page(LIMIT - _TAIL)
    for note in said:
        page.add(note)
    page.add("\n".join(_table(told)))
    left_out = 0
    for entry in told:
        left_out += _add_details(page, entry)
    if left_out:
        what = "1 more change is" if left_out == 1 else f"{left_out:,} more changes are"
        page.force(f"… {what} not shown here: run `rollout diff` to see everything.")
    return page.text()


class _Page:
    def __init__(self, room: int) -> None:
        self.blocks: list[str] = []
        self.room = room

    def add(self, block: str, *, reserve: int = 0) -> bool:
        """Adds a block when it fits, with ``reserve`` characters to spare for what must follow it."""
        if len(block) + 2 + reserve > self.room:
            return False
        self.force(block)
        return True

    def text(self) -> str:
        """All blocks, items of a list close together."""
        text, before = "", ""
        for block in self.blocks:
            close = _is_item(before.rpartition("\n\n")[2]) and _is_item(block)
            text += (("\n" if close else "\n\n") if text else "") + block
            before = block
        return text

    def force(self, block: str) -> None:
        """Adds a block for which room was kept."""
        self.blocks.append(block)
        self.room -= len(block) + 2


def _is_item(block: str) -> bool:
    return block.startswith("- ") and "\n" not in block


def _table(entries: Sequence[Entry]) -> Iterator[str]:
    counted = [
        effect
        for effect in Effect
        if effect is not Effect.PERHAPS or any(_counts(entry).get(effect) for entry in entries)
    ]
    yield f"| environment | {' | '.join(counted)} | old runs |"
    yield f"|:--|{'--:|' * len(counted)}:--|"
    for entry in entries[:_ROWS]:
        name = _code(entry.label, 120).replace("|", "\\|")
        difference = entry.difference
        if difference is None:
            yield f"| {name} |{' ? |' * len(counted)} cannot be told |"
            continue
        cells = [str(difference.counts[effect]) for effect in counted]
        errors = "; **it has errors**" if entry.errors else ""
        yield f"| {name} | {' | '.join(cells)} | {_verdict(difference)}{errors} |"
    if len(entries) > _ROWS:
        yield f"| … {len(entries) - _ROWS} more |{' |' * len(counted)} |"


def _counts(entry: Entry) -> Mapping[Effect, int]:
    return entry.difference.counts if entry.difference else {}


def _verdict(difference: Difference) -> str:
    if difference.before is None:
        return "none yet: it is new"
    if difference.after is None:
        return "it is gone"
    if difference.is_comparable:
        return "stay comparable"
    return "**not comparable**" if difference.has_effect else "not known"


def _add_details(page: _Page, entry: Entry) -> int:
    """Adds the folded section of one environment; returns how many changes had no room."""
    difference = entry.difference
    changes = len(difference.changes) if difference else 0
    end = "</details>"
    opening = f"<details><summary>{_summary(entry)}</summary>"
    closing = "\n\n".join(_closing(entry))
    reserve = len(closing) + len(end) + 8
    if not page.add(opening, reserve=reserve):
        return changes
    left_out = 0
    for effect, group in told(difference, longest=_LONGEST, longest_label=_LONGEST) if difference else ():
        shown = 0
        for each in group:
            block = _change(each)
            if shown == 0:
                block = f"**{_HEADINGS[effect]}**\n\n{block}"
            if left_out == 0 and page.add(block, reserve=reserve):
                shown += 1
            else:
                left_out += 1
    page.force(closing)
    page.force(end)
    return left_out


def _summary(entry: Entry) -> str:
    label = f"<code>{html.escape(cut(telling(entry.label), _LONGEST))}</code>"
    if entry.difference is None:
        return f"{label}: cannot be told"
    parts = [f"{count} {_COUNTED[effect]}" for effect, count in entry.difference.counts.items() if count]
    return f"{label}: {', '.join(parts)}" if parts else label


def _closing(entry: Entry) -> Iterator[str]:
    if entry.difference is None:
        yield _fence([telling(entry.conclusion)], "text")
        return
    for note in entry.difference.notes:
        yield f"Note: {_code(note, 1_000)}"
    for sentence in entry.errors:
        yield f"**Error:** {_code(sentence, 1_000)}"
    yield f"**{entry.difference.concluded(lambda name: _code(name, _LONGEST))}**"
    sides = (entry.difference.before, entry.difference.after)
    digests = dict.fromkeys(version.digest for version in sides if version is not None)
    yield " → ".join(f"`{digest}`" for digest in digests)


def _change(told: Told) -> str:
    change = told.change
    verb = {Kind.ADDED: "added", Kind.REMOVED: "removed", Kind.CHANGED: "changed"}[change.kind]
    head = f"- {verb} {change.subject} {_span(told.label)}"
    if is_line_change(change):
        lines = list(line_changes(change, _LONGEST_LINE))
        more = len(lines) - _LINES
        if more > 0:
            lines = [*lines[:_LINES], f"… {more} more lines"]
        return f"{head}\n\n{_fence(lines, 'diff')}"
    return f"{head}: {_span(told.words)}" if told.words else head


def _code(text: str, longest: int) -> str:
    return _span(cut(telling(text), longest))


def _span(text: str) -> str:
    """A code span of what can be shown."""
    if not text.strip():
        return "(empty)"
    ticks = "`" * (_longest_run(text) + 1)
    # A space on either side is taken off again, and keeps a backtick at the edge from joining the fence.
    edge = " " if text[0] in "` " or text[-1] in "` " else ""
    return f"{ticks}{edge}{text}{edge}{ticks}"


def _fence(lines: Sequence[str], language: str) -> str:
    text = "\n".join(lines)
    fence = "`" * max(3, _longest_run(text) + 1)
    return f"{fence}{language}\n{text}\n{fence}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall("`+", text)), default=0)


__all__ = ["LIMIT", "render"]
