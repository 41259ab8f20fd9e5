"""For programs: one JSON object, versioned, as ``rollout schema diagnostics`` describes it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rollout.diagnostics import Diagnostic, Severity, Span
from rollout.diagnostics._visible import dump_json


def render(diagnostics: Sequence[Diagnostic], *, color: bool = False, checked: Sequence[str] = ()) -> str:
    """All findings and their counts. Lines and columns count from 1, columns in code points, ends are exclusive."""
    kinds = [diagnostic.severity for diagnostic in diagnostics]
    return dump_json(
        {
            "schema_version": 1,
            "checked": list(checked),
            "errors": kinds.count(Severity.ERROR),
            "warnings": kinds.count(Severity.WARNING),
            "diagnostics": [_diagnostic(diagnostic) for diagnostic in diagnostics],
        }
    )


def _diagnostic(diagnostic: Diagnostic) -> dict[str, Any]:
    return {
        "code": diagnostic.code,
        "slug": diagnostic.slug,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "hint": diagnostic.hint,
        **_place(diagnostic.span),
        "related": [{"message": related.message, **_place(related.span)} for related in diagnostic.related],
    }


def _place(span: Span) -> dict[str, Any]:
    return {
        "path": span.path,
        "line": span.line,
        "column": span.column,
        "end_line": span.end_line,
        "end_column": span.end_column,
    }


__all__ = ["render"]
