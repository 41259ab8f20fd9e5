"""Shows the line a finding stands in, with carets under the very characters it speaks of."""

from __future__ import annotations

from dataclasses import dataclass

from rollout.diagnostics import Span
from rollout.diagnostics._visible import visible

TAB = 4
WIDTH = 96
"""How many cells of a line are shown; of a longer one, only the part around the finding."""
LEAD = 24
"""How many cells before the finding stay in view when a line is cut."""


@dataclass(frozen=True, slots=True)
class Excerpt:
    """One line as it is shown, and where under it the carets go: ``indent`` cells in, ``carets`` cells long."""

    text: str
    indent: int
    carets: int


def excerpt(span: Span) -> Excerpt:
    """What to show of ``span.text``: tabs become spaces, controls become visible, a long line becomes a window.

    The carets run to the end of the line when the span goes on to a further one, and there is always one at
    least, so that an empty span and an empty line have their place too.
    """
    line = span.text
    start = min(span.column - 1, len(line))
    end = min(span.end_column - 1, len(line)) if span.end_line == span.line else len(line.rstrip())
    end = max(start, end)
    first, last = _window(line, start)
    before, after = "…" * (first > 0), "…" * (last < len(line))
    shown, column, marks = before, len(before), [0, 0]
    for mark, piece in (
        (0, line[first:start]),
        (1, line[start : min(end, last)]),
        (None, line[min(end, last) : last]),
    ):
        expanded = _expand(piece, column)
        shown += expanded
        column = width(shown)
        if mark is not None:
            marks[mark] = column
    indent, stop = marks
    return Excerpt((shown + after).rstrip(), indent, max(1, stop - indent))


def width(text: str) -> int:
    """How many terminal cells ``text`` takes: two for wide East Asian and emoji, none for combining marks."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _expand(piece: str, column: int) -> str:
    """``piece`` made visible, each tab filled up to the next stop; it begins ``column`` cells into the line."""
    if "\t" not in piece:
        return visible(piece)
    shown = ""
    for number, part in enumerate(piece.split("\t")):
        if number:
            shown += " " * (TAB - (column + width(shown)) % TAB)
        shown += visible(part)
    return shown


def _window(line: str, start: int) -> tuple[int, int]:
    """From where to where ``line`` is shown, so that the character at ``start`` is in view."""
    if len(line) <= WIDTH and width(_expand(line, 0)) <= WIDTH:
        return 0, len(line)
    first = _reach(line, start, -1, LEAD)
    last = _reach(line, start, 1, WIDTH - LEAD)
    if last == len(line):
        first = _reach(line, len(line), -1, WIDTH)
    elif first == 0:
        last = _reach(line, 0, 1, WIDTH)
    return first, last


def _reach(line: str, start: int, step: int, cells: int) -> int:
    """How far from ``start`` one gets in ``line`` within ``cells``, never parting a mark from its letter."""
    at, used = start, 0
    # Marks take no cells, and a hostile line may be a million of them: so many are looked at, and no more.
    for _ in range(4 * WIDTH):
        look = at if step > 0 else at - 1
        if not 0 <= look < len(line):
            return at
        used += _character_width(line[look])
        if used > cells:
            break
        at += step
    for _ in range(WIDTH):
        if not 0 < at < len(line) or _character_width(line[at]):
            break
        at += step
    return at


def _character_width(character: str) -> int:
    return TAB if character == "\t" else width(visible(character))


__all__ = ["Excerpt", "excerpt", "width"]
