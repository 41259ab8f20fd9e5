"""A file's text, and where any character of it stands: line, column and the line itself."""

from __future__ import annotations

from bisect import bisect_right
from pathlib import Path

from rollout.diagnostics import Span


class SourceFile:
    """Decoded text of one file (or of one line of a JSONL file), without its BOM.

    ``path`` opens the file, ``label`` is how a person is shown it. Only ``\\n`` ends a line, as in editors;
    a ``\\r`` before it belongs to the line break. Offsets count code points of ``text``.
    """

    __slots__ = ("_last_line", "_starts", "first_line", "label", "path", "text")

    def __init__(self, path: Path, label: str, text: str, *, first_line: int = 1) -> None:
        self.path = path
        self.label = label
        self.text = text
        self.first_line = first_line
        self._starts: list[int] | None = None
        # A text of one line with many problems must not be kept once for each of them.
        self._last_line: tuple[int, str] | None = None

    def restore(self, text: str) -> None:
        """Puts the whole text in the place of one with blanks in it, of the same length."""
        assert len(text) == len(self.text)
        self.text = text
        self._starts = self._last_line = None

    @property
    def _line_starts(self) -> list[int]:
        if self._starts is None:
            starts = [0]
            find = self.text.find
            at = find("\n")
            while at >= 0:
                starts.append(at + 1)
                at = find("\n", at + 1)
            self._starts = starts
        return self._starts

    def position(self, offset: int) -> tuple[int, int]:
        """Line and column (both from 1) of the character at ``offset``."""
        starts = self._line_starts
        row = bisect_right(starts, offset) - 1
        return self.first_line + row, offset - starts[row] + 1

    def line(self, number: int) -> str:
        """The text of line ``number``, without its line break."""
        if self._last_line is not None and self._last_line[0] == number:
            return self._last_line[1]
        starts = self._line_starts
        row = number - self.first_line
        start = starts[row]
        end = starts[row + 1] - 1 if row + 1 < len(starts) else len(self.text)
        line = self.text[start:end].removesuffix("\r")
        self._last_line = (number, line)
        return line

    def span(self, start: int, end: int) -> Span:
        """The span from offset ``start`` up to, not including, ``end``."""
        line, column = self.position(start)
        end_line, end_column = self.position(max(start, end))
        return Span(self.label, line, column, end_line, end_column, self.line(line))


__all__ = ["SourceFile"]
