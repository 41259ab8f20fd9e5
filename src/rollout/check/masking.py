"""Takes secrets out of diagnostics before they are shown: they end up in logs and on the pages of a CI."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import replace
from types import MappingProxyType
from typing import Any

from rollout.check.secrets import NAMES, Secret, find_secrets
from rollout.check.walk import leaves
from rollout.diagnostics import Diagnostic, Related, Span

_DOT = "•"
# A sentence may quote no more than the beginning of what its line holds.
_SHORTEST_BEGINNING = 12


def without_secrets(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """``diagnostics`` with each secret in their sentences and lines cut down to how it begins; columns stay right."""
    mask = _Mask()
    return [mask.diagnostic(diagnostic) for diagnostic in diagnostics]


def without_secrets_in(text: str, known: Mapping[str, str] = MappingProxyType({})) -> str:
    """``text`` with each secret in it cut down to how it begins.

    ``known`` are secrets with what is shown of each, as :func:`secrets_of` gives them: a text may hold no more of one
    than its beginning.
    """
    for found in reversed(list(find_secrets(text))):
        text = text[: found.start] + found.shown + text[found.end :]
    left = {secret: max(len(shown), _SHORTEST_BEGINNING) for secret, shown in known.items()}
    while present := [secret for secret, least in left.items() if secret[:least] in text]:
        # The one of which the text holds most: others may begin alike.
        ends = {secret: _held(secret, text) for secret in present}
        most = max(present, key=ends.__getitem__)
        text = text.replace(most[: ends[most]], known[most])
        del left[most]
    return text


def _held(secret: str, text: str) -> int:
    """How many of the first characters of ``secret`` stand in ``text``."""
    return bisect_left(range(1, len(secret) + 1), True, key=lambda end: secret[:end] not in text)


def secrets_of(value: Any) -> dict[str, str]:
    """The secrets in the keys and texts of a JSON value, each with what may be shown of it."""
    known: dict[str, str] = {}
    for leaf in leaves(value):
        if not isinstance(leaf.value, str):
            continue
        key = leaf.route[-1] if leaf.route else None
        # Some are only told from other texts by their names.
        name = f"{key}: " if leaf.at == "value" and isinstance(key, str) and NAMES.fullmatch(key) else ""
        for found in find_secrets(name + leaf.value):
            whole = leaf.value[max(found.start - len(name), 0) : found.end - len(name)]
            shown = found.shown.removeprefix(name)
            # A label has a text on one line.
            known |= {whole: shown, " ".join(whole.split()): shown}
    return dict(sorted(known.items(), key=lambda item: -len(item[0])))


class _Mask:
    def __init__(self) -> None:
        # Many diagnostics may stand on one line, and that line may be a megabyte long.
        self._found: dict[str, list[Secret]] = {}

    def diagnostic(self, diagnostic: Diagnostic) -> Diagnostic:
        lines = [diagnostic.span.text, *(each.span.text for each in diagnostic.related)]
        known = {
            line[found.start : found.end]: found.shown for line in lines for found in self._secrets(line)
        }
        return replace(
            diagnostic,
            message=without_secrets_in(diagnostic.message, known),
            hint=None if diagnostic.hint is None else without_secrets_in(diagnostic.hint, known),
            span=self._span(diagnostic.span),
            related=tuple(
                Related(self._span(each.span), without_secrets_in(each.message, known))
                for each in diagnostic.related
            ),
        )

    def _secrets(self, text: str) -> list[Secret]:
        if text not in self._found:
            self._found[text] = list(find_secrets(text))
        return self._found[text]

    def _span(self, span: Span) -> Span:
        text = span.text
        for found in self._secrets(text):
            start = found.start + len(found.shown) - 1
            text = text[:start] + _DOT * (found.end - start) + text[found.end :]
        return span if text is span.text else replace(span, text=text)


__all__ = ["secrets_of", "without_secrets", "without_secrets_in"]
