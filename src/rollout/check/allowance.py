"""``# rollout: allow <slug> — reason``: a comment that silences one rule on one line.

At the end of a line it speaks for that line; on a line of its own, for the next. It works in YAML and TOML, the
two formats that have comments. It must give a reason, and it must silence something: an allowance that has
nothing left to allow is itself a finding, so that none outlives its cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rollout.check.rulebook import find_rules
from rollout.diagnostics import Diagnostic
from rollout.source.document import Document
from rollout.source.place import Place, Problem
from rollout.source.text import SourceFile

_COMMENT = re.compile(r"(?:^|(?<=\s))#\s*rollout:\s*allow\b[ \t]*(?P<rest>[^\n]*)", re.MULTILINE)
_REST = re.compile(r"(?P<slug>[A-Za-z0-9_-]*[A-Za-z0-9])\s*(?:(?:—|–|--|-|:)\s*(?P<reason>\S.*))?$")
_SUFFIXES = (".yaml", ".yml", ".toml")


@dataclass(slots=True)
class Allowance:
    """One such comment: the slug it allows, the line it speaks for, and whether it has silenced anything yet."""

    source: SourceFile
    start: int
    end: int
    slug: str
    line: int
    used: bool = field(default=False)


def allowances(document: Document, problems: list[Problem]) -> list[Allowance]:
    """Reads the comments of all files; those that say nothing usable go to ``problems``."""
    found: list[Allowance] = []
    for source in document.sources:
        if not source.path.name.endswith(_SUFFIXES) or "rollout:" not in source.text:
            continue
        texts = sorted(_scalars(document.place, source))
        for match in _COMMENT.finditer(source.text):
            start, end = match.start(), match.end()
            if any(from_ <= start < to for from_, to in texts):
                continue
            rest = _REST.match(match["rest"].strip())
            span = source.span(start, end)
            if rest is None or not rest["reason"]:
                problems.append(Problem("malformed-allowance", span, {"defect": "no reason"}))
            elif not (named := find_rules(rest["slug"])) or len(named) > 1:
                problems.append(
                    Problem("malformed-allowance", span, {"defect": "unknown", "slug": rest["slug"]})
                )
            elif named[0].code < "RL3" and named[0].severity == "error":
                problems.append(
                    Problem("malformed-allowance", span, {"defect": "not silenceable", "slug": rest["slug"]})
                )
            else:
                line, _ = source.position(start)
                alone = source.line(line).lstrip().startswith("#")
                found.append(Allowance(source, start, end, named[0].slug, line + 1 if alone else line))
    return found


def silence(
    diagnostics: Iterable[Diagnostic], allowed: list[Allowance], problems: list[Problem]
) -> Iterator[Diagnostic]:
    """The diagnostics that no allowance speaks for; allowances left over go to ``problems``."""
    by_place = {(allowance.source.label, allowance.line, allowance.slug): allowance for allowance in allowed}
    for diagnostic in diagnostics:
        allowance = by_place.get((diagnostic.span.path, diagnostic.span.line, diagnostic.slug))
        if allowance is None:
            yield diagnostic
        else:
            allowance.used = True
    for allowance in allowed:
        if not allowance.used:
            span = allowance.source.span(allowance.start, allowance.end)
            problems.append(
                Problem("unused-allowance", span, {"slug": allowance.slug, "line": allowance.line})
            )


def _scalars(place: Place, source: SourceFile) -> Iterator[tuple[int, int]]:
    children = place.children
    if children is None:
        if place.source is source:
            yield place.start, place.end
        return
    for child in children.values() if isinstance(children, dict) else children:
        yield from _scalars(child, source)


__all__ = ["Allowance", "allowances", "silence"]
