"""For GitHub Actions: workflow commands that put each finding beside its line in a pull request."""

from __future__ import annotations

from collections.abc import Sequence

from rollout.diagnostics import Diagnostic
from rollout.diagnostics._visible import visible
from rollout.diagnostics._words import details


def render(diagnostics: Sequence[Diagnostic], *, color: bool = False, checked: Sequence[str] = ()) -> str:
    """One ``::error file=…::…`` or ``::warning …`` a finding.

    Format: "Workflow commands for GitHub Actions", and the escapes of the actions toolkit: ``%``, line breaks
    and, in a property, ``:`` and ``,``.
    """
    return "".join(f"{_command(diagnostic)}\n" for diagnostic in diagnostics)


def _command(diagnostic: Diagnostic) -> str:
    span = diagnostic.span
    properties: dict[str, object] = {"file": span.path.replace("\\", "/"), "line": span.line}
    # The check-runs API takes columns only for an annotation that begins and ends on one line.
    if span.line == span.end_line:
        properties |= {"col": span.column, "endLine": span.end_line, "endColumn": span.end_column}
    else:
        properties |= {"endLine": span.end_line}
    properties["title"] = f"{diagnostic.code} {diagnostic.slug}"
    told = ",".join(f"{name}={_escape_property(str(value))}" for name, value in properties.items())
    message = _escape("\n".join([visible(diagnostic.message), *details(diagnostic)]))
    return f"::{diagnostic.severity} {told}::{message}"


def _escape(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape(visible(text)).replace(":", "%3A").replace(",", "%2C")


__all__ = ["render"]
