"""A primitive that this template has nothing for.

`page_reached` needs pages, `sql_result` a database, `files_match` files. Elsewhere there is nothing that the
primitive could look at, so every rollout would end in an error.
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.grading import is_foreign, templates_of
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity

CODE = "RL506"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    for primitive in subject.primitives:
        if is_foreign(subject, primitive):
            kind = str(primitive.text("type"))
            yield Finding(
                (*primitive.route, "type"),
                f"{quoted(kind)} has nothing to look at in a {subject.template} environment.",
                f"It judges {' and '.join(templates_of()[kind])} environments.",
            )
