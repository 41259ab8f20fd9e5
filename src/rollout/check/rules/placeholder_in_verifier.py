"""A `${…}` stands in a verifier, where nothing is filled in.

Placeholders are for the texts of tools and pages. A verifier compares with what stands there, letter by letter: no
agent says “${task.input.pin}”, so the primitive never finds it, and with `not: true` it never fails. What is expected
of one task belongs into its `hidden_ground_truth`, which `ground_truth_match` and others compare with; what is the
same for all is written as it is.

Before:

    - {name: keeps_the_pin, type: contains_terms, terms: ["${task.input.pin}"], not: true}

After:

    - {name: keeps_the_pin, type: contains_terms, terms: ["4711"], not: true}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.foreign import UNFILLED
from rollout.check.subject import Subject
from rollout.check.walk import leaves
from rollout.check.wording import quoted
from rollout.diagnostics import Severity

CODE = "RL524"
SEVERITY = Severity.ERROR

_FOR_PEOPLE = frozenset({"name", "description", "rubric"})


def check(subject: Subject) -> Iterator[Finding]:
    if subject.template == "code-editing":
        return  # such a text may stand in a program
    for primitive in subject.primitives:
        options = {key: value for key, value in primitive.value.items() if key not in _FOR_PEOPLE}
        for leaf in leaves(options, primitive.route):
            for match in UNFILLED.finditer(leaf.value) if isinstance(leaf.value, str) else ():
                yield Finding(
                    leaf.route,
                    f"{quoted(match[0])} is plain text here: a verifier fills nothing in.",
                    "Write the value itself. One that each task has is expected by its hidden_ground_truth.",
                    at=leaf.at,
                    span=subject.inside(leaf.route, leaf.value, *match.span(), leaf.at),
                )
