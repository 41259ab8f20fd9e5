"""For people: each finding with the line it stands in, carets under the words, the way out, and a closing count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rollout.diagnostics import Diagnostic, Related, Severity, Span
from rollout.diagnostics._excerpt import excerpt
from rollout.diagnostics._visible import visible
from rollout.diagnostics._words import headline, summary

_STYLES = {
    Severity.ERROR: "1;31",
    Severity.WARNING: "1;33",
    "place": "1",
    "frame": "34",
    "help": "36",
    "code": "2",
    "fine": "32",
}


def render(diagnostics: Sequence[Diagnostic], *, color: bool = False, checked: Sequence[str] = ()) -> str:
    """All findings with their lines, then the count. ``color`` adds ANSI colours; user text never does."""
    blocks = [_Block(diagnostic, color).text() for diagnostic in diagnostics]
    closing = summary(diagnostics, checked)
    worst = min((diagnostic.severity for diagnostic in diagnostics), default=None)
    blocks.append(_paint(closing, _STYLES[worst or "fine"], color) + "\n")
    return "\n".join(blocks)


class _Block:
    """One finding being drawn."""

    def __init__(self, diagnostic: Diagnostic, color: bool) -> None:
        self.diagnostic = diagnostic
        self.color = color
        lines = [diagnostic.span.line, *(related.span.line for related in diagnostic.related)]
        self.gutter = max(len(str(line)) for line in lines)

    def text(self) -> str:
        lines = [self._headline(), *self._source(self.diagnostic.span, _STYLES[self.diagnostic.severity])]
        for related in self.diagnostic.related:
            lines.extend(self._related(related))
        if self.diagnostic.hint:
            first, *more = self.diagnostic.hint.splitlines()
            lines.append(f"{self._frame('╰')} {self._paint('help:', 'help')} {visible(first)}")
            lines.extend(f"{' ' * (self.gutter + 2)}       {visible(line)}".rstrip() for line in more)
        return "".join(f"{line}\n" for line in lines)

    def _headline(self) -> str:
        plain = headline(self.diagnostic)
        if not self.color:
            return plain
        found = self.diagnostic
        place, severity = visible(str(found.span)), str(found.severity)
        code = f"[{found.code} {found.slug}]"
        sentence = plain[len(place) + len(severity) + 2 : -len(code)]
        return (
            f"{self._paint(place, 'place')}: {self._paint(severity, found.severity)}{sentence}"
            f"{self._paint(code, 'code')}"
        )

    def _source(self, span: Span, style: str) -> Iterator[str]:
        if not span.text and (span.line, span.end_line, span.end_column) == (1, 1, 1):
            return  # It speaks of a file as a whole, or of one that has no text to show.
        shown = excerpt(span)
        number = self._paint(f"{span.line:>{self.gutter + 2}} │", "frame")
        yield f"{number} {shown.text}".rstrip()
        carets = _paint("^" * shown.carets, style, self.color)
        yield f"{self._frame('│')} {' ' * shown.indent}{carets}"

    def _related(self, related: Related) -> Iterator[str]:
        yield f"{self._frame('├')} {self._paint(visible(str(related.span)), 'place')}: {visible(related.message)}"
        yield from self._source(related.span, _STYLES["frame"])

    def _frame(self, stroke: str) -> str:
        return self._paint(f"{' ' * (self.gutter + 2)} {stroke}", "frame")

    def _paint(self, text: str, style: str) -> str:
        return _paint(text, _STYLES[style], self.color)


def _paint(text: str, codes: str, color: bool) -> str:
    return f"\x1b[{codes}m{text}\x1b[0m" if color else text


__all__ = ["render"]
