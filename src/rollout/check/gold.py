"""The gold queries of a sql environment: those of its tasks' ground truths, and those of its verifier."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from rollout.check.finding import Finding
from rollout.check.subject import Subject
from rollout.database.golds import is_rows
from rollout.language.paths import PathError, get, parse
from rollout.source.document import TaskRecord
from rollout.source.place import Route

_DEFAULT = "query"


@dataclass(frozen=True, slots=True)
class Gold:
    """One gold query, the route it stands at, and whether it was said that it may come to no rows.

    ``others`` are the golds beside it, of which one has to agree just as well.
    """

    route: Route
    query: str
    may_be_empty: bool
    others: tuple[str, ...] = ()


def golds_of_verifier(subject: Subject) -> Iterator[Gold]:
    """The queries that ``sql_result`` primitives hold themselves."""
    for primitive in subject.primitives:
        if primitive.value.get("type") == "sql_result" and "query" in primitive.value:
            allowed = primitive.value.get("expectEmpty") is True
            yield from _golds((*primitive.route, "query"), primitive.value["query"], allowed)


def golds_of_task(subject: Subject) -> Callable[[TaskRecord], Iterator[Gold]]:
    """Finds the queries in a task's ground truth: wherever a ``sql_result`` looks for one, and else at ``query``.

    Texts that stand at ``rows`` or ``answer`` for want of a ``query`` are taken for queries too.
    """
    paths: dict[tuple[str | int, ...], bool] = {}
    for primitive in subject.primitives:
        if primitive.value.get("type") != "sql_result" or "query" in primitive.value:
            continue
        written = primitive.value.get("groundTruth", _DEFAULT)
        try:
            steps = parse(written).steps
        except (PathError, TypeError):
            continue
        paths[steps] = paths.get(steps, True) and primitive.value.get("expectEmpty") is True
    paths.setdefault((_DEFAULT,), False)

    def golds(record: TaskRecord) -> Iterator[Gold]:
        truth = record.ground_truth
        key = "hidden_ground_truth" if "hidden_ground_truth" in record.value else "hiddenGroundTruth"
        for steps, may_be_empty in paths.items():
            if steps == (_DEFAULT,):
                steps = (_standing_in(truth),)
            found = get(truth, steps)
            yield from _golds(("tasks", record.index, key, *steps), found, may_be_empty)

    return golds


Judge = Callable[[Subject, Gold], Iterator[Finding]]


def judge_of_verifier(subject: Subject, judge: Judge) -> Iterator[Finding]:
    """What ``judge`` finds in the verifier's own queries; nothing where the database cannot be built."""
    if _can_run(subject):
        for gold in golds_of_verifier(subject):
            yield from judge(subject, gold)


def judge_of_task(subject: Subject, judge: Judge) -> Callable[[TaskRecord], list[Finding]] | None:
    """The same for the queries of each task's ground truth."""
    if not _can_run(subject):
        return None
    golds = golds_of_task(subject)
    return lambda record: [finding for gold in golds(record) for finding in judge(subject, gold)]


def _can_run(subject: Subject) -> bool:
    return subject.database is not None and not subject.database.failures


def _standing_in(truth: Any) -> str:
    """Which part of a ground truth its queries are in, as nobody says where they are."""
    if isinstance(truth, dict) and truth.get(_DEFAULT) is None:
        if truth.get("rows") is not None:
            return "rows"
        if isinstance(truth.get("answer"), list):
            return "answer"
    return _DEFAULT


def _golds(route: Route, value: Any, may_be_empty: bool) -> Iterator[Gold]:
    if isinstance(value, str):
        yield Gold(route, value, may_be_empty)
    elif isinstance(value, list) and not is_rows(value):
        for index, query in enumerate(value):
            if isinstance(query, str):
                others = tuple(each for each in value if isinstance(each, str) and each != query)
                yield Gold((*route, index), query, may_be_empty, others)


__all__ = ["Gold", "Judge", "golds_of_task", "golds_of_verifier", "judge_of_task", "judge_of_verifier"]
