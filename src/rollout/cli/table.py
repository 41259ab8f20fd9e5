"""Tables for people: columns under their names, as wide as what stands in them."""

from __future__ import annotations

from collections.abc import Sequence
from unicodedata import east_asian_width

from rollout.cli.output import show, visible, wants_color

_WIDEST = 60


def show_table(names: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Writes the table to stdout; a cell that is too long is cut."""
    cells = [[_cut(visible(cell)) for cell in row] for row in rows]
    widths = [max(map(_width, column)) for column in zip(names, *cells, strict=True)]
    head = _line(names, widths)
    show(f"\x1b[2m{head}\x1b[0m" if wants_color() else head)
    for row in cells:
        show(_line(row, widths))


def when(moment: str | None) -> str:
    """A time of the wire as it stands in a table: ``2026-03-01 12:00``, in UTC."""
    return "" if not moment else moment[:16].replace("T", " ")


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (width - _width(cell)) for cell, width in zip(cells, widths, strict=True))
    return "  ".join(padded).rstrip()


def _width(text: str) -> int:
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _cut(text: str) -> str:
    return text if len(text) <= _WIDEST else f"{text[: _WIDEST - 1]}…"


__all__ = ["show_table", "when"]
