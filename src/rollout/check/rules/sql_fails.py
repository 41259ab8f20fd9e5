"""A statement of the schema or the seed does not run.

A sql environment's database is built from `schema`, then `seed`, in SQLite, before every rollout. A statement that
fails leaves a database that is not the one the tasks were written for, so no rollout can start. All failing
statements of the schema are listed; the seed is only tried once the schema holds.

Before:

    CREATE TABEL orders (id INTEGER PRIMARY KEY);

After:

    CREATE TABLE orders (id INTEGER PRIMARY KEY);
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.diagnostics import Severity
from rollout.source.inside import span_inside

CODE = "RL350"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    database = subject.database
    for failure in database.failures if database else ():
        text = subject.document.value[failure.key]
        place = subject.document.place.child(failure.key)
        yield Finding(
            (failure.key,),
            f"This statement of the {failure.key} does not run: {failure.reason}.",
            "The SQL is run by SQLite; write it in SQLite’s dialect.",
            span=span_inside(place, text, failure.start, failure.end) if place else None,
        )
