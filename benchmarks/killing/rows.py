"""What a platform holds at the end, and what of it is not as where nothing was killed."""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import select

from killing.people import Person
from rollout.platform.store import Store, tables

_COUNTED = {"passed": "passed", "failed": "failed", "errors": "error", "unscored": "unscored"}


@dataclass(frozen=True, slots=True)
class Held:
    """The digests of each environment's versions by their number, which of them it is held as, the runs, and the
    rollouts of each by its id."""

    versions: dict[str, dict[int, str]]
    current: dict[str, tuple[int, str]]
    runs: list[Any]
    rollouts: dict[str, list[Any]]

    @property
    def number(self) -> int:
        """How many rollouts there are."""
        return sum(map(len, self.rollouts.values()))


def held(database: str) -> Held:
    """Reads a database whose server has ended."""
    store = Store(database)
    try:
        return store.read(_held)
    finally:
        store.close()


def _held(connection: Any) -> Held:
    slugs: dict[str, str] = {}
    versions: dict[str, dict[int, str]] = {}
    current: dict[str, tuple[int, str]] = {}
    for row in connection.execute(select(tables.environments)):
        slugs[row.id] = row.slug
        current[row.slug] = (row.version, row.digest)
    for row in connection.execute(select(tables.versions)):
        versions.setdefault(slugs[row.environment_id], {})[row.number] = row.digest
    rollouts: dict[str, list[Any]] = {}
    for row in connection.execute(select(tables.rollouts)):
        rollouts.setdefault(row.run_id, []).append(row)
    return Held(versions, current, list(connection.execute(select(tables.runs))), rollouts)


def faults(disturbed: Held, undisturbed: Held, people: Sequence[Person]) -> Iterator[str]:
    """What is not as it should be, in sentences."""
    for slug in sorted({*disturbed.versions, *undisturbed.versions}):
        ours, theirs = disturbed.versions.get(slug), undisturbed.versions.get(slug)
        if ours != theirs:
            yield f"{slug} has the versions {ours}, and {theirs} where nothing was killed"
        elif disturbed.current[slug] != undisturbed.current[slug]:
            yield f"{slug} is held as {disturbed.current[slug]}, and not as {undisturbed.current[slug]}"
    yield from _unacknowledged(disturbed, people)
    expected = {_named(run): run for run in undisturbed.runs}
    for run in disturbed.runs:
        if (like := expected.get(_named(run))) is None:
            yield f"the run {run.name} is there, and nobody has begun it where nothing was killed"
            continue
        yield from _unlike(
            run, disturbed.rollouts.get(run.id, []), like, undisturbed.rollouts.get(like.id, [])
        )
    for missing in sorted(set(expected) - {_named(run) for run in disturbed.runs}):
        yield f"the run {missing} is missing"
    yield from _told_otherwise(disturbed, people)


def _unacknowledged(disturbed: Held, people: Sequence[Person]) -> Iterator[str]:
    there = Counter(run.name for run in disturbed.runs)
    ids = {run.id: run.name for run in disturbed.runs}
    for person in people:
        for name in sorted(person.asked.names):
            if there[name] > 1:
                yield f"the run {name} is there {there[name]} times"
        for name, run_id in person.asked.runs.items():
            if ids.get(run_id) != name:
                yield f"the run {name} was acknowledged as {run_id}, which is not there"
    for name in sorted(set(there) - {name for person in people for name in person.asked.names}):
        yield f"the run {name} is there, and nobody asked for it"


def _unlike(run: Any, rows: list[Any], like: Any, expected: list[Any]) -> Iterator[str]:
    ours, theirs = _asked(run), _asked(like)
    if ours != theirs:
        yield f"the run {run.name} was to do {ours}, and {theirs} where nothing was killed"
    if run.status != "done":
        yield f"the run {run.name} is {run.status}: {run.reason}"
    there = Counter((row.task_index, row.trial) for row in rows)
    for place in sorted({(row.task_index, row.trial) for row in expected} ^ set(there)):
        yield f"the run {run.name} has {there[place]} rollouts of task {place[0]}, trial {place[1]}"
    for place, number in there.items():
        if number > 1:
            yield f"the run {run.name} has {number} rollouts of task {place[0]}, trial {place[1]}"
    counts = Counter(row.outcome for row in rows)
    told = {column: getattr(run, column) for column in _COUNTED}
    if told != {column: counts[outcome] for column, outcome in _COUNTED.items()} or run.done != len(rows):
        yield f"the run {run.name} counts {told} and {run.done} in all, and has {dict(counts)}"
    if abs(run.score_sum - sum(row.score for row in rows if row.score is not None)) > 1e-9:
        yield f"the run {run.name} adds its scores up to {run.score_sum}, which they do not"
    known = {(row.task_index, row.trial): _said(row) for row in expected}
    for row in rows:
        if (place := (row.task_index, row.trial)) in known and (said := _said(row)) != known[place]:
            apart = [key for key in said if said[key] != known[place][key]]
            yield (
                f"the run {run.name} has another rollout of task {place[0]}, trial {place[1]}: {', '.join(apart)}: "
                f"{ {key: said[key] for key in apart} } and not { {key: known[place][key] for key in apart} }"
            )


def _told_otherwise(disturbed: Held, people: Sequence[Person]) -> Iterator[str]:
    for run_id, told in _followed(people):
        there = {row.id for row in disturbed.rollouts.get(run_id, [])}
        missed, wrong = len(there - set(told)), len(set(told) - there)
        if missed or wrong:
            yield (
                f"who followed the run {run_id} was not told of {missed} of its {len(there)} rollouts, and of {wrong} "
                "that are not there"
            )


def told_twice(people: Sequence[Person]) -> int:
    """How many rollouts a program was told of more than once, each time that it followed a run to its end."""
    return sum(len(told) - len(set(told)) for _, told in _followed(people))


def _followed(people: Sequence[Person]) -> Iterator[tuple[str, list[str]]]:
    return (each for person in people for each in person.asked.told.items())


def _named(run: Any) -> str:
    return str(run.name).partition(" time ")[0]


def _asked(run: Any) -> Any:
    return run.digest, run.model, run.options, run.total


def _said(row: Any) -> dict[str, Any]:
    """A rollout without its id and without what a clock says."""
    columns = ("task", "instruction", "split", "outcome", "again", "score", "reason", "calls", "charged_to")
    said = {name: getattr(row, name) for name in columns}
    line = json.loads(zlib.decompress(row.line))
    line.get("trace", {}).pop("seconds", None)
    return {**said, **line}


__all__ = ["Held", "faults", "held", "told_twice"]
