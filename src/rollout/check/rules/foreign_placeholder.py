"""A placeholder is written as another tool would write it, and is plain text here.

Templates of other programs say `{{args.person}}`, `{person}` or `$person`. Here only `${…}` is filled in, and
everything else is taken as it stands, so that instructions and data may hold braces and dollars: the tool looks for a
person called “{{args.person}}”. Found are those in a tool's own texts (its path, value, response or change) that name
one of its parameters, or the arguments, the state, the fixtures or the task's input.

Before:

    fixturePath: people.{{args.person}}
    value: {who: $person}

After:

    fixturePath: people.${args.person}
    value: {who: "${args.person}"}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity

CODE = "RL341"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for found in subject.foreign_placeholders:
        yield Finding(
            found.route,
            f"{quoted(found.written)} is plain text here: only “${{…}}” is filled in.",
            f"Did you mean {quoted(found.meant)}?",
            at=found.at,
            span=subject.inside(
                found.route, found.text, found.start, found.start + len(found.written), found.at
            ),
        )
