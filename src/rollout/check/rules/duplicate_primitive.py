"""Two primitives have the same name.

Results are shown and compared by the primitive's name. With two of one name, nobody can tell which of them failed.
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Route

CODE = "RL515"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    first: dict[str, Route] = {}
    for primitive in subject.primitives:
        name = primitive.text("name")
        if name is None:
            continue
        if name in first:
            yield Finding(
                (*primitive.route, "name"),
                f"There are two primitives called {quoted(name)}.",
                "Give each primitive a name of its own.",
                see=((first[name], "the first one"),),
            )
        else:
            first[name] = (*primitive.route, "name")
