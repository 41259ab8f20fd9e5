"""What tables of a page show: a page at a time, by an index, and of long texts only their beginnings."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, case, func, select, tuple_

from rollout.platform.store import tables
from rollout.platform.store.runs import Status

_environments, _runs, _rollouts, _jobs = (
    tables.environments,
    tables.runs,
    tables.rollouts,
    tables.training_jobs,
)

LONGEST = 400
"""So many characters of a text are read for a table."""

SCORE_BINS = 12
"""0 and 1 have bins of their own, the first and the last; the others are tenths."""


class EnvironmentRow(NamedTuple):
    """An environment in a table. Times are in milliseconds since 1970, here as everywhere."""

    slug: str
    name: str
    template: str
    description: str | None
    version: int
    task_count: int
    updated_at: int


class RunRow(NamedTuple):
    """A run in a table, with the environment that it is of."""

    id: str
    slug: str
    environment: str
    digest: str
    model: str
    name: str | None
    status: str
    total: int
    done: int
    passed: int
    failed: int
    errors: int
    unscored: int
    created_at: int
    ended_at: int | None

    @property
    def graded(self) -> int:
        """How many of its rollouts have a score."""
        return self.passed + self.failed


class RolloutRow(NamedTuple):
    """A rollout in a table."""

    id: str
    task_index: int
    trial: int
    task: str
    instruction: str
    split: str
    outcome: str
    score: float | None
    reason: str
    charged_to: str | None
    calls: int
    seconds: float


class TaskTally(NamedTuple):
    """The rollouts of one task."""

    task_index: int
    passed: int
    failed: int
    errors: int
    unscored: int
    score_sum: float

    @property
    def graded(self) -> int:
        """How many have a score."""
        return self.passed + self.failed

    @property
    def all(self) -> int:
        """How many there are."""
        return self.graded + self.errors + self.unscored


class TaskName(NamedTuple):
    """Which task it is, in a run."""

    task: str
    instruction: str
    split: str


class JobRow(NamedTuple):
    """A training job in a table."""

    id: str
    run_id: str
    provider: str
    base_model: str
    method: str
    status: str
    fine_tuned_model: str | None
    created_at: int
    updated_at: int


def environments(
    connection: Connection, *, limit: int, newest: bool = False, after: Sequence[Any] = ()
) -> list[EnvironmentRow]:
    """Environments by slug, or those that were changed last first; those that follow ``after``: a slug, or a time and
    a slug."""
    table = _environments.c
    query = select(
        table.slug,
        _beginning(table.name),
        table.template,
        _beginning(table.description),
        table.version,
        table.task_count,
        table.updated_at,
    )
    if newest:
        query = _paged(query, (table.updated_at, table.slug), after, limit, down=True)
    else:
        query = _paged(query, (table.slug,), after, limit)
    return [EnvironmentRow(*row) for row in connection.execute(query)]


def runs(
    connection: Connection,
    *,
    limit: int,
    oldest: bool = False,
    after: Sequence[Any] = (),
    environment_id: str | None = None,
    status: Status | None = None,
) -> list[RunRow]:
    """Runs, the newest or the oldest first; those that follow ``after``, the time and id of one."""
    table = _runs.c
    query = _run_rows()
    if environment_id is not None:
        query = query.where(table.environment_id == environment_id)
    if status is not None:
        query = query.where(table.status == status)
    query = _paged(query, (table.created_at, table.id), after, limit, down=not oldest)
    return [RunRow(*row) for row in connection.execute(query)]


def runs_by_id(connection: Connection, ids: Collection[str]) -> dict[str, RunRow]:
    """Runs by their ids."""
    found = connection.execute(_run_rows().where(_runs.c.id.in_(ids)))
    return {row.id: RunRow(*row) for row in found}


def rollouts(
    connection: Connection,
    run_id: str,
    *,
    limit: int,
    down: bool = False,
    after: Sequence[Any] = (),
    outcome: str | None = None,
    task_index: int | None = None,
) -> list[RolloutRow]:
    """Rollouts of a run by task and trial; those that follow ``after``, the task index and trial of one."""
    table = _rollouts.c
    query = select(
        table.id,
        table.task_index,
        table.trial,
        _beginning(table.task),
        _beginning(table.instruction),
        table.split,
        table.outcome,
        table.score,
        _beginning(table.reason),
        table.charged_to,
        table.calls,
        table.seconds,
    ).where(table.run_id == run_id)
    if outcome is not None:
        query = query.where(table.outcome == outcome)
    order = [table.task_index, table.trial]
    if task_index is not None:
        query, order, after = query.where(table.task_index == task_index), order[1:], after[1:]
    query = _paged(query, order, after, limit, down=down)
    return [RolloutRow(*row) for row in connection.execute(query)]


def beside(connection: Connection, run_id: str, place: tuple[int, int], *, before: bool) -> str | None:
    """The id of the rollout of a run that comes before or after the one of a task index and trial."""
    columns = (_rollouts.c.task_index, _rollouts.c.trial)
    query = select(_rollouts.c.id).where(_rollouts.c.run_id == run_id)
    return connection.execute(_paged(query, columns, place, 1, down=before)).scalar_one_or_none()


def tallies(connection: Connection, run_id: str) -> list[TaskTally]:
    """How the rollouts of each task came out, by the places of the tasks."""
    table = _rollouts.c
    query = (
        select(
            table.task_index,
            *(
                func.sum(case((table.outcome == outcome, 1), else_=0))
                for outcome in ("passed", "failed", "error", "unscored")
            ),
            func.coalesce(func.sum(table.score), 0.0),
        )
        .where(table.run_id == run_id)
        .group_by(table.task_index)
        .order_by(table.task_index)
    )
    return [TaskTally._make(row) for row in connection.execute(query)]


def scores(connection: Connection, run_id: str) -> dict[tuple[int, str], int]:
    """How many rollouts have a score in each of the bins, by outcome."""
    score = _rollouts.c.score
    tenths = ((score * 10 < bound, bound) for bound in range(1, 10))
    place = case((score <= 0, 0), (score >= 1, SCORE_BINS - 1), *tenths, else_=SCORE_BINS - 2)
    query = (
        select(place, _rollouts.c.outcome, func.count())
        .where(_rollouts.c.run_id == run_id, score.is_not(None))
        .group_by(place, _rollouts.c.outcome)
    )
    return {(index, outcome): amount for index, outcome, amount in connection.execute(query)}


def task_names(connection: Connection, run_id: str, indexes: Collection[int]) -> dict[int, TaskName]:
    """What the tasks at some places are, as their first rollouts say."""
    table = _rollouts.c
    first = (
        select(table.task_index, func.min(table.trial))
        .where(table.run_id == run_id, table.task_index.in_(indexes))
        .group_by(table.task_index)
    )
    query = select(
        table.task_index, _beginning(table.task), _beginning(table.instruction), table.split
    ).where(table.run_id == run_id, tuple_(table.task_index, table.trial).in_(first))
    return {index: TaskName(*rest) for index, *rest in connection.execute(query)}


def jobs(connection: Connection, *, limit: int, after: Sequence[Any] = ()) -> list[JobRow]:
    """Training jobs, the newest first; those that follow ``after``, the time and id of one."""
    table = _jobs.c
    query = select(
        table.id,
        table.run_id,
        table.provider,
        _beginning(table.base_model),
        table.method,
        table.status,
        _beginning(table.fine_tuned_model),
        table.created_at,
        table.updated_at,
    )
    query = _paged(query, (table.created_at, table.id), after, limit, down=True)
    return [JobRow(*row) for row in connection.execute(query)]


def _run_rows() -> Select[Any]:
    table = _runs.c
    return select(
        table.id,
        _environments.c.slug,
        _beginning(_environments.c.name),
        table.digest,
        _beginning(table.model),
        _beginning(table.name),
        table.status,
        table.total,
        table.done,
        table.passed,
        table.failed,
        table.errors,
        table.unscored,
        table.created_at,
        table.ended_at,
    ).join(_environments, _environments.c.id == table.environment_id)


def _beginning(column: ColumnElement[Any]) -> ColumnElement[Any]:
    # One more than is shown, so that a text that is cut can be told from one that is not.
    return func.substr(column, 1, LONGEST + 1)


def _paged(
    query: Select[Any],
    columns: Sequence[ColumnElement[Any]],
    after: Sequence[Any],
    limit: int,
    *,
    down: bool = False,
) -> Select[Any]:
    """The first of a query in the order of ``columns``, or the first after what has these values."""
    if after:
        # Both databases look such a pair up in an index, as they do not what is said with “or”.
        here, there = tuple_(*columns), tuple_(*after)
        query = query.where(here < there if down else here > there)
    return query.order_by(*(column.desc() if down else column for column in columns)).limit(limit)


__all__ = [
    "LONGEST",
    "SCORE_BINS",
    "EnvironmentRow",
    "JobRow",
    "RolloutRow",
    "RunRow",
    "TaskName",
    "TaskTally",
    "beside",
    "environments",
    "jobs",
    "rollouts",
    "runs",
    "runs_by_id",
    "scores",
    "tallies",
    "task_names",
]
