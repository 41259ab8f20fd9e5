"""A primitive that no rollout can fail.

It looks like a check and is none: whatever the agent does, it counts as passed, and lifts the score of every rollout
alike. Found are a `tool_call_count` without a lower bound above 0 and without an upper one, an `output_matches` whose
pattern matches every text, a `state_match` or `state_unchanged` on a part of the state that no tool can change, and a
`state_match` with `subset: true` that expects nothing but empty lists and objects.
A primitive that never passes, turned around by `not: true`, is one of them too.

Before:

    - {name: said_something, type: output_matches, pattern: ".*"}

After:

    - {name: named_the_amount, type: output_matches, pattern: "\\b100\\b"}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.certainty import certain_outcome
from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.diagnostics import Severity

CODE = "RL510"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for primitive in subject.primitives:
        certain = certain_outcome(subject, primitive)
        if certain is not None and certain.passes:
            yield Finding(
                (*primitive.route, *certain.below),
                f"No rollout can fail this primitive: {certain.why}.",
                certain.hint or "Ask for something that only a right rollout does, or remove it.",
                at=certain.at,
            )
