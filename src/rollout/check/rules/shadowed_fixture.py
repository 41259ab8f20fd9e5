"""A list of the state has the name of a fixture.

A lookup's `fromArray` looks in the state first, so the fixture of the same name is never searched, and the agent finds
only what tools have added. Call one of the two something else.

Before:

    fixtures:
      orders: [{id: O-1}]
    initialMutableState:
      orders: []

After:

    fixtures:
      orders: [{id: O-1}]
    initialMutableState:
      placed_orders: []
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity

CODE = "RL337"
SEVERITY = Severity.WARNING


def check(subject: Subject) -> Iterator[Finding]:
    for name in subject.initial_state:
        if name in subject.fixtures:
            yield Finding(
                ("config", subject.state_key, name),
                f"{quoted(name)} is in the state and among the fixtures.",
                "Call one of the two something else: a lookup finds only the one in the state.",
                at="key",
                see=((("config", "fixtures", name), "the fixture"),),
            )
