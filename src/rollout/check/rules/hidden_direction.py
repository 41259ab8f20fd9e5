"""A text holds a character that changes the direction in which it is shown.

After a character such as U+202E (right-to-left override) an editor shows what follows in another order than it stands
there, so that a reviewer reads something else than the agent is given. Right-to-left writing needs none of them. Take
it out; where it is meant, write it as an escape in double quotes, which everybody sees.

Before:

    description: Refunds an order. ␮        (␮ is the character U+202E itself)

After:

    description: "Refunds an order. \\u202e"
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

CODE = "RL393"
SEVERITY = Severity.WARNING

_TURNING = re.compile("[\u202a-\u202e\u2066-\u2069]")
_BYTES = re.compile(b"\xe2\x80[\xaa-\xae]|\xe2\x81[\xa6-\xa9]")


def check(subject: Subject) -> Iterator[Finding]:
    value = subject.document.value
    if _BYTES.search(written(dict(value))):
        yield from _findings(value, (), subject)


def screen(data: bytes) -> bool:
    return _BYTES.search(data) is not None


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None]:
    def judge(record: TaskRecord) -> Iterable[Finding] | None:
        if not screen(record.line or written(record.value)):
            return None
        return _findings(record.value, ("tasks", record.index), subject)

    return judge


def _findings(value: Any, route: Route, subject: Subject) -> Iterator[Finding]:
    for leaf in leaves(value, route):
        found = _TURNING.search(leaf.value) if isinstance(leaf.value, str) else None
        # An escape can be seen, and is no problem.
        span = subject.within(leaf.route, found[0], leaf.at, first=True) if found else None
        if found is None or span is None:
            continue
        code = f"{ord(found[0]):04x}"
        yield Finding(
            leaf.route,
            f"The character U+{code.upper()} stands here, which shows what follows in another order.",
            f"Take it out; where it is meant, write \\u{code} inside double quotes.",
            at=leaf.at,
            span=span,
        )
