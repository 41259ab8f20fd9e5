"""What is wrong, where it stands, and the way out: the one shape every finding takes."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    """How bad a finding is: an error stops the road, a warning only fails under ``--strict``."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a file, as an editor shows it.

    Lines and columns count from 1; columns count code points, and the end is exclusive.
    ``text`` is the whole first line, without its line break, so that a renderer can draw a caret under it.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str = ""

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


@dataclass(frozen=True, slots=True)
class Related:
    """A second place that a diagnostic speaks of, such as where a duplicate first stood."""

    span: Span
    message: str


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One finding.

    ``message`` is a sentence that stands alone; ``hint`` is the way out: what was expected, or did-you-mean.
    ``code`` (``RL<stage><nn>``) and ``slug`` name the rule that found it; ``rollout explain`` takes either.
    """

    code: str
    slug: str
    severity: Severity
    message: str
    span: Span
    hint: str | None = None
    related: tuple[Related, ...] = ()

    @property
    def sort_key(self) -> tuple[str, int, int, str, str]:
        """Orders findings as a reader meets them: by file, then line, column, code and words."""
        return (self.span.path, self.span.line, self.span.column, self.code, self.message)


__all__ = ["Diagnostic", "Related", "Severity", "Span"]
