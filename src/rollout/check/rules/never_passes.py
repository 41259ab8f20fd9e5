"""A primitive that no rollout can pass.

Whatever the agent does, it counts as failed, so that nobody reaches the top score. Found are a `tool_call_count`
with `min` above `max`, a call with arguments that the tool does not take, an item asked for beyond the length asked
for, an expectation on a part of the state that no tool can change, and an `element_value` that its field never has,
such as a word that is not among the options. A primitive that never fails, turned around by `not: true`, is one of
them too, and so is a call of a `calls_match` that has an argument twice, in `args` and in `anyOf` or `optional`: it
cannot be judged.

Before:

    - {name: calls, type: tool_call_count, min: 3, max: 2}

After:

    - {name: calls, type: tool_call_count, min: 2, max: 3}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.certainty import certain_outcome
from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.diagnostics import Severity

CODE = "RL511"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for primitive in subject.primitives:
        certain = certain_outcome(subject, primitive)
        if certain is not None and not certain.passes:
            yield Finding(
                (*primitive.route, *certain.below),
                f"No rollout can pass this primitive: {certain.why}.",
                certain.hint or "Ask for something that a right rollout does.",
                at=certain.at,
            )
