"""One line a finding, ``path:line:col: severity: sentence [CODE slug]``, for editors, grep and small screens."""

from __future__ import annotations

from collections.abc import Sequence

from rollout.diagnostics import Diagnostic
from rollout.diagnostics._words import headline


def render(diagnostics: Sequence[Diagnostic], *, color: bool = False, checked: Sequence[str] = ()) -> str:
    """The first lines of all findings, each with its line break; empty when there are none."""
    return "".join(f"{headline(diagnostic)}\n" for diagnostic in diagnostics)


__all__ = ["render"]
