"""Takes secrets out of diagnostics before they are shown: they end up in logs and on the pages of a CI."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from rollout.check.secrets import Secret, find_secrets
from rollout.diagnostics import Diagnostic, Related, Span

_DOT = "•"
# A sentence may quote no more than the beginning of what its line holds.
_SHORTEST_BEGINNING = 12


def without_secrets(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """``diagnostics`` with each secret in their sentences and lines cut down to how it begins; columns stay right."""
    mask = _Mask()
    return [mask.diagnostic(diagnostic) for diagnostic in diagnostics]


class _Mask:
    def __init__(self) -> None:
        # Many diagnostics may stand on one line, and that line may be a megabyte long.
        self._found: dict[str, list[Secret]] = {}

    def diagnostic(self, diagnostic: Diagnostic) -> Diagnostic:
        lines = [diagnostic.span.text, *(each.span.text for each in diagnostic.related)]
        known = [
            (line[found.start : found.end], found.shown) for line in lines for found in self._secrets(line)
        ]
        return replace(
            diagnostic,
            message=self._sentence(diagnostic.message, known),
            hint=None if diagnostic.hint is None else self._sentence(diagnostic.hint, known),
            span=self._span(diagnostic.span),
            related=tuple(
                Related(self._span(each.span), self._sentence(each.message, known))
                for each in diagnostic.related
            ),
        )

    def _secrets(self, text: str) -> list[Secret]:
        if text not in self._found:
            self._found[text] = list(find_secrets(text))
        return self._found[text]

    def _sentence(self, text: str, known: list[tuple[str, str]]) -> str:
        for found in reversed(list(find_secrets(text))):
            text = text[: found.start] + found.shown + text[found.end :]
        for secret, shown in known:
            longest = max(len(shown), _SHORTEST_BEGINNING)
            if secret[:longest] in text:
                end = next(end for end in range(len(secret), 0, -1) if secret[:end] in text)
                text = text.replace(secret[:end], shown)
        return text

    def _span(self, span: Span) -> Span:
        text = span.text
        for found in self._secrets(text):
            start = found.start + len(found.shown) - 1
            text = text[:start] + _DOT * (found.end - start) + text[found.end :]
        return span if text is span.text else replace(span, text=text)


__all__ = ["without_secrets"]
