"""A gold query whose rows are not the same every day, or every time.

It asks for the current time, or for something random. The answer that was right when the task was written is wrong
next month, and rollouts of different days cannot be compared. Put a fixed date into the query, and into the
instruction, or let the database's clock stand still with `now: 2025-03-01` beside `schema`. What is random is wrong at
once, as agents cannot guess it: choose by what is in the rows, and say in the instruction how.

Before:

    SELECT count(*) FROM loans WHERE due < date('now')

After:

    SELECT count(*) FROM loans WHERE due < '2025-03-01'
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from rollout.check.finding import Finding
from rollout.check.gold import Gold, golds_of_task, golds_of_verifier
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.document import TaskRecord

CODE = "RL353"
SEVERITY = Severity.WARNING

_RANDOM = r"\brandom(?:blob)?\s*\("
_CLOCK = r"'now'|\bcurrent_(?:date|time|timestamp)\b|\b(?:date|time|datetime|julianday|unixepoch)\s*\(\s*\)"
_DRIFTS = re.compile(f"{_CLOCK}|{_RANDOM}", re.IGNORECASE)
_DRIFTS_ANYWAY = re.compile(_RANDOM, re.IGNORECASE)


def check(subject: Subject) -> Iterator[Finding]:
    if subject.template == "sql":
        for gold in golds_of_verifier(subject):
            yield from _judge(gold, _drifts(subject))


def check_tasks(subject: Subject) -> Callable[[TaskRecord], Iterable[Finding] | None] | None:
    if subject.template != "sql":
        return None
    golds, drifts = golds_of_task(subject), _drifts(subject)
    return lambda record: [finding for gold in golds(record) for finding in _judge(gold, drifts)]


def _drifts(subject: Subject) -> re.Pattern[str]:
    return _DRIFTS if subject.document.value.get("now") is None else _DRIFTS_ANYWAY


def _judge(gold: Gold, drifts: re.Pattern[str]) -> Iterator[Finding]:
    if (found := drifts.search(gold.query)) is None:
        return
    if found[0].lower().startswith("random"):
        yield Finding(
            gold.route,
            "What is random in this gold query makes it come to other rows each time.",
            "Order or choose by a column instead, and say so in the instruction.",
        )
        return
    drifting = found[0] if found[0].startswith("'") else quoted(found[0])
    yield Finding(
        gold.route,
        f"{drifting} makes this gold query come to other rows on another day.",
        "Write the date out, in the query and in the instruction, or stop the clock with “now”.",
    )
