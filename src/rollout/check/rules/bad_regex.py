"""A regular expression that does not compile.

Before:

    - {name: amount, type: output_matches, pattern: "(\\d+"}

After:

    - {name: amount, type: output_matches, pattern: "(\\d+)"}
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.regexes import regexes
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.language.regex import compile_pattern
from rollout.source.inside import span_inside

CODE = "RL516"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for route, pattern in regexes(subject):
        try:
            compile_pattern(pattern)
        except re.error as error:
            place, taken = subject.document.place.nearest(route)
            span = None
            if error.pos is not None and taken == len(route):
                span = span_inside(place, pattern, error.pos, min(error.pos + 1, len(pattern)))
            yield Finding(
                route,
                f"{quoted(pattern)} is no regular expression: {error.msg}.",
                _way_out(pattern, error.msg),
                span=span,
            )


def _way_out(pattern: str, told: str) -> str:
    if told.startswith("unknown extension ?<") and (named := re.search(r"\(\?<(\w+)>", pattern)):
        return f"Patterns are in Python's dialect, which names a group with a P: “(?P<{named[1]}>…)”."
    return "Patterns are in Python's dialect; a backslash needs two in double quotes."
