"""A regular expression that matches no text.

`^` only holds at the beginning of a text and `$` at its end, so that nothing can stand before the one or behind the
other: `a^b` and `$a` never match. It is most often a `$` or a `^` that was meant as a character, as in `\\$100`. Nor
does `(?!)` match, which forbids that anything follows, even nothing.

Before:

    - {name: amount, type: output_matches, pattern: "$100"}

After:

    - {name: amount, type: output_matches, pattern: "\\\\$100"}
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from rollout.check.finding import Finding
from rollout.check.regexes import regexes, schema_patterns
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity

CODE = "RL523"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for route, pattern in chain(regexes(subject), schema_patterns(subject)):
        from rollout.check.unmatchable import never_matches  # loaded only where there is a pattern to look at

        if never_matches(pattern):
            yield Finding(route, *_said(pattern))


def _said(pattern: str) -> tuple[str, str]:
    if "(?!" in pattern and not any(each in pattern for each in ("^", "$", "\\A", "\\Z")):
        return (
            f"{quoted(pattern)} matches no text: “(?!…)” forbids here whatever may come, and the end too.",
            "Write behind “(?!” what may not follow.",
        )
    return (
        f"{quoted(pattern)} matches no text: something stands before a “^” or behind a “$”.",
        "Where the character itself is meant, put a backslash before it (two in double quotes).",
    )
