"""The first line of a finding, which stands alone, and the closing line that counts them all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rollout.diagnostics import Diagnostic, Severity
from rollout.diagnostics._visible import visible


def headline(diagnostic: Diagnostic) -> str:
    """``path:line:col: severity: sentence [CODE slug]``, on one line whatever the words hold."""
    place = visible(str(diagnostic.span))
    return (
        f"{place}: {diagnostic.severity}: {visible(diagnostic.message)} [{diagnostic.code} {diagnostic.slug}]"
    )


def details(diagnostic: Diagnostic) -> list[str]:
    """What comes after the first line where no source can be shown: the related places, then the way out."""
    related = [f"{visible(str(see.span))}: {visible(see.message)}" for see in diagnostic.related]
    return [*related, *(visible(line) for line in (diagnostic.hint or "").splitlines())]


def summary(diagnostics: Sequence[Diagnostic], checked: Sequence[str] = ()) -> str:
    """``2 errors, 1 warning in 3 files.``, with how many environments were checked when that is known."""
    kinds = Counter(diagnostic.severity for diagnostic in diagnostics)
    counted = [count(kinds[kind], kind.value) for kind in Severity if kinds[kind]]
    if not counted:
        return (
            f"{count(len(checked), 'environment')} checked, nothing to report."
            if checked
            else "Nothing to report."
        )
    files = len({diagnostic.span.path for diagnostic in diagnostics})
    found = f"{', '.join(counted)} in {count(files, 'file')}"
    return f"{found}; {count(len(checked), 'environment')} checked." if checked else f"{found}."


def count(number: int, noun: str) -> str:
    """``1 file``, ``2 files``, ``12,000 files``."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


__all__ = ["count", "details", "headline", "summary"]
