"""A statement of the schema or the seed does not run.

A sql environment's database is built from `schema`, then `seed`, in SQLite, before every rollout. A statement that
fails leaves a database that is not the one the tasks were written for, so no rollout can start. All failing
statements of the schema are listed; the seed is only tried once the schema holds. Where `dialect` names another
SQL dialect, what does not mean the same in SQLite fails too: a database that is nearly right makes answers that are
nearly right. In a view or a CHECK too, a word in double quotes that names nothing fails, where SQLite would take
it for a text.

Before:

    CREATE TABEL orders (id INTEGER PRIMARY KEY);

After:

    CREATE TABLE orders (id INTEGER PRIMARY KEY);
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.sql_ways_out import way_out
from rollout.check.subject import Subject
from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.inside import span_inside

CODE = "RL350"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    database = subject.database
    dialect = subject.document.value.get("dialect", "sqlite")
    hint = (
        "The SQL is run by SQLite; write it in SQLite's dialect."
        if dialect == "sqlite"
        else f"Only what means the same in SQLite is carried over from {quoted(str(dialect))}; write it another way."
    )
    if database is None:
        return
    for failure in database.failures:
        if failure.key not in ("schema", "seed"):
            yield Finding(
                (failure.key,), failure.reason if failure.reason[-1] in ".'" else f"{failure.reason}."
            )
            continue
        text = subject.document.value[failure.key]
        place = subject.document.place.child(failure.key)
        yield Finding(
            (failure.key,),
            f"This statement of the {failure.key} does not run: {failure.reason}.",
            way_out(failure.reason, database.tables(), is_built=failure.key == "seed") or hint,
            span=span_inside(place, text, failure.start, failure.end) if place else None,
        )
