"""A primitive that this template has nothing for.

`page_reached` needs pages, `sql_result` a database, `files_match` files. Elsewhere there is nothing that the
primitive could look at, so every rollout would end in an error.
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.grading import templates_of
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity

CODE = "RL506"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    if subject.template is None:
        return
    for primitive in subject.primitives:
        kind = primitive.text("type")
        fitting = templates_of().get(kind or "")
        if fitting is not None and subject.template not in fitting:
            yield Finding(
                (*primitive.route, "type"),
                f"{quoted(str(kind))} has nothing to look at in a {subject.template} environment.",
                f"It judges {' and '.join(fitting)} environments.",
            )
