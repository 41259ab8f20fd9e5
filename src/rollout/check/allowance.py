"""``# rollout: allow <slug> — reason``: a comment that silences one rule, or several, on one line.

At the end of a line it speaks for that line; on a line of its own, for the next. It works in YAML and TOML, the two
formats that have comments. Several slugs are told apart by commas. It must give a reason, and it must silence
something: an allowance that has nothing left to allow is itself a finding, so that none outlives its cause.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from rollout.check.rulebook import find_rules
from rollout.check.wording import closest
from rollout.diagnostics import Diagnostic
from rollout.source.comments import SUFFIXES, Texts
from rollout.source.document import Document
from rollout.source.place import Problem
from rollout.source.text import SourceFile

_COMMENT = re.compile(
    r"(?:^|(?<=\s))#[ \t]*rollout:[ \t]*(?P<verb>[A-Za-z]+)\b[ \t]*(?P<rest>[^\r\n]*)", re.MULTILINE
)
_NAME = r"[A-Za-z0-9_-]*[A-Za-z0-9]"
_NAMES = re.compile(rf"{_NAME}(?:\s*,\s*{_NAME})*")
_DASH = re.compile(r"(?:—|–|--|-|:)\s*")
# The words of other tools for the same.
_OTHER_VERBS = frozenset({"ignore", "disable", "noqa", "suppress", "skip", "silence", "permit", "except"})


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
        if not source.path.name.endswith(SUFFIXES) or "rollout:" not in source.text:
            continue
        texts = Texts(source)
        for match in _comments(source.text, texts):
            start, end = match.start(), match.end()
            slugs, fault = _read(match["verb"], match["rest"].strip())
            if fault is not None:
                problems.append(Problem("malformed-allowance", source.span(start, end), fault))
            line, column = source.position(start)
            before = source.line(line)[: column - 1].lstrip()
            # A line that begins with “#” may be the last of a text, with the comment behind it.
            alone = not before or (before.startswith("#") and texts.end_of(start - len(before)) is None)
            found += [Allowance(source, start, end, slug, line + 1 if alone else line) for slug in slugs]
    return found


def _comments(text: str, texts: Texts) -> Iterator[re.Match[str]]:
    match = _COMMENT.search(text)
    while match is not None:
        inside = texts.end_of(match.start())
        if inside is None:
            yield match
        match = _COMMENT.search(text, match.end() if inside is None else inside)


def _read(verb: str, rest: str) -> tuple[list[str], dict[str, str] | None]:
    """The slugs that a comment allows, and what is wrong with it; neither for a comment that is only prose."""
    names = _NAMES.match(rest)
    words = [each.strip() for each in names[0].split(",")] if names else []
    if verb != "allow":
        is_meant = (
            verb.lower() in _OTHER_VERBS or closest(verb, ("allow",)) or find_rules(words[0] if words else "")
        )
        return [], {"defect": "verb", "verb": verb} if is_meant else None
    if names is None:
        return [], {"defect": "no slug"}
    after = rest[names.end() :].strip()
    dash = _DASH.match(after)
    if after and dash is None:
        return [], {"defect": "no dash", "slug": words[-1], "rest": after}
    if dash is None or dash.end() == len(after):
        return [], {"defect": "no reason"}
    slugs: list[str] = []
    for word in words:
        named = find_rules(word)
        if len(named) != 1:
            return [], {"defect": "unknown", "slug": word}
        if named[0].code < "RL3" and named[0].severity == "error":
            return [], {"defect": "not silenceable", "slug": word}
        slugs.append(named[0].slug)
    return list(dict.fromkeys(slugs)), None


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


__all__ = ["Allowance", "allowances", "silence"]
