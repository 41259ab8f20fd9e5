"""The headers of TOML tables in diagnostics: ``[config.tools]``, where ``[[config.tools]]`` makes a list."""

from __future__ import annotations

from collections.abc import Iterable

from rollout.diagnostics import Diagnostic, Span
from rollout.source.place import Problem


def written_header(span: Span) -> str | None:
    """The header ``[a.b]`` that ``span`` covers in a TOML file; None where it covers something else."""
    text = span.text[span.column - 1 : span.end_column - 1]
    is_header = span.path.endswith(".toml") and text[:1] == "[" and span.text.lstrip().startswith(text)
    return text if is_header and text[:2] != "[[" and text.endswith("]") else None


def is_list_told_of(problem: Problem, found: Iterable[Diagnostic]) -> bool:
    """Whether ``problem`` is a second header of a table that has to be a list, which one of ``found`` says."""
    if problem.slug != "duplicate-key" or not problem.facts.get("header"):
        return False
    first = problem.facts["first"]
    return any(
        diagnostic.slug in ("wrong-type", "tasks-not-a-list")
        and (diagnostic.span.path, diagnostic.span.line) == (first.path, first.line)
        for diagnostic in found
    )


__all__ = ["is_list_told_of", "written_header"]
