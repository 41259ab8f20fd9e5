"""A regular expression that can run away.

A repetition inside a repetition, such as `(\\d+)+`, can match the same text in so many ways that on a text that almost
matches the search takes hours: it doubles with every character. An agent's answer is such a text sooner or later, and
the verifier would hang on it. Write the inner repetition so that each text can be matched in one way only.

Before:

    pattern: "^(\\w+\\s?)*$"

After:

    pattern: "^\\w+(\\s\\w+)*$"
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain

from rollout.check.finding import Finding
from rollout.check.regexes import regexes, schema_patterns
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity

CODE = "RL517"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for route, pattern in chain(regexes(subject), schema_patterns(subject)):
        from rollout.check.backtracking import runs_away  # loaded only where there is a pattern to look at

        if runs_away(pattern):
            yield Finding(
                route,
                f"{quoted(pattern)} can take hours on a text that almost matches.",
                "Take the repetition out of the repetition, or put something between them that only matches there.",
            )
