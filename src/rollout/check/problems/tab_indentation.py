"""A tab stands where YAML counts spaces.

In YAML the number of spaces at the beginning of a line says what belongs to what, and a tab is as wide as each
editor likes. Replace tabs at the beginning of lines with spaces; most editors have a command for it, or a setting
that makes the Tab key insert spaces.

Before:

    config:
    ⇥tools: []

After:

    config:
      tools: []
"""

from __future__ import annotations

from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL108"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    return "A tab is used for indentation here; YAML counts spaces only.", "Replace the tab with spaces."


__all__ = ["CODE", "SEVERITY", "describe"]
