"""An integer is larger than 2^53, so it cannot be kept exactly.

The platform, like every reader of JSON in JavaScript, keeps numbers as 64-bit floats. Beyond 9,007,199,254,740,992 not
every integer has one: 9007199254740993 comes back as 9007199254740992. An id that changes on the way matches no row and
no ground truth. Write long ids as strings.

A task's `solution` and `x-…` keys never leave this machine, where integers are exact; nothing is said of them.

Before:

    fixtures:
      messages: [{id: 1374829104729104837, text: Hello}]

After:

    fixtures:
      messages: [{id: "1374829104729104837", text: Hello}]
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.check.walk import leaves, written
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord
from rollout.source.place import Route
from rollout.source.runs import outline

CODE = "RL392"
SEVERITY = Severity.ERROR

LARGEST = 2**53
_LONG_NUMBER = re.compile(rb"[0-9]{16}")


def check(subject: Subject) -> Iterator[Finding]:
    value = {key: member for key, member in subject.document.value.items() if not key.startswith("x-")}
    if screen(written(value)):
        yield from _findings(value, ())


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None]:
    return judge


def screen(data: bytes) -> bool:
    """Whether there is a number among these lines that is long enough to be looked at."""
    return outline(data).has_long_run and _LONG_NUMBER.search(data) is not None


def judge(record: TaskRecord) -> Iterable[Finding] | None:
    data = record.line or written(record.value)
    if not outline(data).has_long_run or not _LONG_NUMBER.search(data):
        return None
    sent = {
        key: member for key, member in record.value.items() if key != "solution" and not key.startswith("x-")
    }
    return _findings(sent, ("tasks", record.index))


def _findings(value: Any, route: Route) -> Iterator[Finding]:
    for leaf in leaves(value, route):
        number = leaf.value
        if isinstance(number, int) and not isinstance(number, bool) and abs(number) > LARGEST:
            # A number of thousands of digits has no text, and nobody would read it.
            digits = str(number) if abs(number) < 10**40 else "a number of more than 40 digits"
            kept = f" {digits} would become {int(float(number))}." if abs(number) < 10**40 else ""
            yield Finding(
                leaf.route,
                f"{'This integer' if kept else 'This'} is too large to be kept exactly.{kept}",
                f"{'Write less' if _is_setting(leaf.route) else 'Write it as a string'}; "
                "integers are exact up to 2^53 = 9007199254740992.",
                at=leaf.at,
            )


def _is_setting(route: Route) -> bool:
    # A weight, a tolerance or a limit of a primitive has to be a number; what a primitive expects is data.
    return route[:2] == ("verifier", "primitives") and len(route) == 4
