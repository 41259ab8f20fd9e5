"""Runs: what was asked for, how far it is, and who executes it.

A run is executed by whoever holds its lease. A lease that is not renewed runs out, and another may take the run; the
rollouts that are done are there, so it is gone on with and not begun again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any

from sqlalchemy import Connection, Select, bindparam, case, func, insert, or_, select, tuple_, update

from rollout.platform.store import tables
from rollout.platform.store.ids import new_id, now

_runs = tables.runs


class Status(StrEnum):
    """How far a run is."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"


OVER = (Status.DONE, Status.FAILED, Status.CANCELLED)

OWN = "local "
"""How an owner begins who executes only what a user asked of it: nobody else goes on with that unasked."""


@dataclass(frozen=True, slots=True)
class Run:
    """A run. ``options`` is what it was asked to do, ``inputs`` what it was first executed with; ``done`` counts the
    rollouts that are finished, ``score_sum`` adds up the scores of those that were graded. Times are in milliseconds
    since 1970."""

    id: str
    environment_id: str
    digest: str
    model: str
    name: str | None
    parent_id: str | None
    options: dict[str, Any]
    inputs: dict[str, Any] | None
    status: Status
    total: int
    done: int
    passed: int
    failed: int
    errors: int
    unscored: int
    score_sum: float
    usage: dict[str, Any] | None
    reason: str | None
    created_at: int
    started_at: int | None
    ended_at: int | None
    cancel_requested: bool
    owner: str | None
    lease_until: int | None
    key_id: str | None

    @property
    def graded(self) -> int:
        """How many of its rollouts have a score."""
        return self.passed + self.failed

    @property
    def is_over(self) -> bool:
        """Whether nothing more is done."""
        return self.status in OVER


# What is asked at every request is put together once: that takes longer than the answer.
_COLUMNS = tuple(_runs.c[name] for name in Run.__slots__)
_STATUS = Run.__slots__.index("status")
_GET = select(*_COLUMNS).where(_runs.c.id == bindparam("id"))
_FIND = (
    select(*_COLUMNS)
    .where(_runs.c.id >= bindparam("start"), _runs.c.id < bindparam("end"))
    .order_by(_runs.c.id)
    .limit(4)
)


class NotOneError(Exception):
    """A start of an id that no run has, or several; ``matches`` are some of those."""

    def __init__(self, start: str, matches: Sequence[str]) -> None:
        super().__init__(start)
        self.matches = tuple(matches)


def create(
    connection: Connection,
    *,
    environment_id: str,
    digest: str,
    model: str,
    options: dict[str, Any],
    total: int,
    name: str | None = None,
    parent_id: str | None = None,
    key_id: str | None = None,
    owner: str | None = None,
) -> Run:
    """A new run, queued; with an ``owner`` for that one alone, where it begins with :data:`OWN`."""
    run_id = new_id()
    connection.execute(
        insert(_runs).values(
            id=run_id,
            environment_id=environment_id,
            digest=digest,
            model=model,
            name=name,
            parent_id=parent_id,
            options=options,
            status=Status.QUEUED,
            total=total,
            created_at=now(),
            key_id=key_id,
            owner=owner,
        )
    )
    run = get(connection, run_id)
    assert run is not None
    return run


def get(connection: Connection, run_id: str) -> Run | None:
    """The run of that id."""
    row = connection.execute(_GET, {"id": run_id}).one_or_none()
    return None if row is None else _run(row)


def find(connection: Connection, start: str) -> Run:
    """The only run whose id begins with ``start``. Raises NotOneError."""
    wanted = start.lower().replace("-", "")
    if not wanted or not all(char in "0123456789abcdef" for char in wanted):
        raise NotOneError(start, ())
    rows = connection.execute(_FIND, {"start": wanted, "end": f"{wanted}g"}).all()
    if len(rows) != 1:
        raise NotOneError(start, [row.id for row in rows])
    return _run(rows[0])


def newest(
    connection: Connection,
    *,
    limit: int | None = None,
    before: tuple[int, str] | None = None,
    environment_id: str | None = None,
    status: Status | None = None,
) -> list[Run]:
    """Runs, the newest first; those older than ``before``, the time and id of one."""
    query = _newest(before is not None, environment_id is not None, status is not None, limit is not None)
    moment, run_id = before or (0, "")
    given = {"moment": moment, "run": run_id, "environment": environment_id, "status": status, "limit": limit}
    return [_run(row) for row in connection.execute(query, given)]


@cache
def _newest(before: bool, environment: bool, status: bool, limit: bool) -> Select[Any]:
    query = select(*_COLUMNS).order_by(_runs.c.created_at.desc(), _runs.c.id.desc())
    if before:
        query = query.where(
            tuple_(_runs.c.created_at, _runs.c.id) < tuple_(bindparam("moment"), bindparam("run"))
        )
    if environment:
        query = query.where(_runs.c.environment_id == bindparam("environment"))
    if status:
        query = query.where(_runs.c.status == bindparam("status"))
    return query.limit(bindparam("limit")) if limit else query


def count(connection: Connection) -> dict[str, int]:
    """How many runs there are of each status."""
    query = select(_runs.c.status, func.count()).group_by(_runs.c.status)
    found: dict[str, int] = dict(connection.execute(query).tuples().all())
    return {str(status): found.get(str(status), 0) for status in Status}


def oldest_queued(connection: Connection) -> int | None:
    """Since when the run has waited that was queued first; None where none is."""
    query = select(func.min(_runs.c.created_at)).where(_runs.c.status == Status.QUEUED)
    found: int | None = connection.execute(query).scalar_one()
    return found


def lease(connection: Connection, owner: str, seconds: float, *, only: str | None = None) -> Run | None:
    """The oldest run that is to be executed and that nobody holds, now held by ``owner``; None where there is none.

    ``only`` is the id of the one that is wanted, which may then have been for somebody alone.
    """
    moment = now()
    free = or_(_runs.c.lease_until.is_(None), _runs.c.lease_until < moment)
    query = select(_runs.c.id).where(_runs.c.status.in_((Status.QUEUED, Status.RUNNING)), free)
    if only is None:
        query = query.where(or_(_runs.c.owner.is_(None), _runs.c.owner.not_like(f"{OWN}%")))
    else:
        query = query.where(_runs.c.id == only)
    query = query.order_by(_runs.c.created_at, _runs.c.id).limit(1)
    if connection.dialect.name != "sqlite":
        query = query.with_for_update(skip_locked=True)
    run_id = connection.execute(query).scalar_one_or_none()
    if run_id is None:
        return None
    connection.execute(
        update(_runs)
        .where(_runs.c.id == run_id)
        .values(
            owner=owner,
            lease_until=moment + int(seconds * 1000),
            status=Status.RUNNING,
            started_at=func.coalesce(_runs.c.started_at, moment),
        )
    )
    return get(connection, run_id)


def renew(
    connection: Connection, run_id: str, owner: str, seconds: float, trouble: str | None = None
) -> Run | None:
    """Holds a run for longer. None where ``owner`` does not hold it any more.

    ``trouble`` says why it stands still, a sentence; it is the run's reason until it is renewed without any.
    """
    reason = case((_runs.c.cancel_requested, _runs.c.reason), else_=trouble)
    changed = connection.execute(
        update(_runs)
        .where(_runs.c.id == run_id, _runs.c.owner == owner, _runs.c.status == Status.RUNNING)
        .values(lease_until=now() + int(seconds * 1000), reason=reason)
    )
    return get(connection, run_id) if changed.rowcount else None


def held(connection: Connection) -> list[tuple[str, str, int | None]]:
    """The runs that are somebody's, each with who that is, and until when it is held."""
    query = select(_runs.c.id, _runs.c.owner, _runs.c.lease_until).where(
        _runs.c.status.in_((Status.QUEUED, Status.RUNNING)), _runs.c.owner.is_not(None)
    )
    return [(run_id, owner, until) for run_id, owner, until in connection.execute(query)]


def release(connection: Connection, run_id: str, owner: str) -> None:
    """Gives a run back, to be gone on with by whoever leases it next. One that was for its owner alone is ended, and
    only gone on with when somebody asks for that."""
    if owner.startswith(OWN):
        run = get(connection, run_id)
        if run is not None and run.done >= run.total:
            end(connection, run_id, owner, Status.DONE)
        else:
            reason = f"It was interrupted. Go on with it: rollout resume {run_id[:12]}"
            end(connection, run_id, owner, Status.CANCELLED, reason)
        return
    connection.execute(
        update(_runs).where(_runs.c.id == run_id, _runs.c.owner == owner).values(owner=None, lease_until=None)
    )


def free(connection: Connection, run_id: str, owner: str, until: int | None) -> None:
    """Gives back a run whose owner is gone, and that was held until then. One whose lease was renewed since is held
    still: whoever renews it is there."""
    query = select(_runs.c.owner, _runs.c.lease_until).where(_runs.c.id == run_id)
    if connection.dialect.name != "sqlite":
        query = query.with_for_update()
    if connection.execute(query).one_or_none() == (owner, until):
        release(connection, run_id, owner)


def keep_inputs(connection: Connection, run_id: str, inputs: dict[str, Any]) -> None:
    """Notes down what a run is executed with."""
    connection.execute(update(_runs).where(_runs.c.id == run_id).values(inputs=inputs))


def end(
    connection: Connection, run_id: str, owner: str | None, status: Status, reason: str | None = None
) -> Run | None:
    """Ends a run. With an ``owner``, only if that one holds it; None where it does not."""
    query = update(_runs).where(_runs.c.id == run_id, _runs.c.status.not_in(OVER))
    if owner is not None:
        query = query.where(_runs.c.owner == owner)
    changed = connection.execute(
        query.values(status=status, reason=reason, ended_at=now(), owner=None, lease_until=None)
    )
    return get(connection, run_id) if changed.rowcount else None


def end_cancelled(connection: Connection, run_id: str, owner: str) -> Run | None:
    """Ends a run that is to be cancelled. None where somebody has asked to go on with it meanwhile: it is free then, to
    be leased again."""
    mine = (_runs.c.id == run_id, _runs.c.owner == owner, _runs.c.status == Status.RUNNING)
    ended = connection.execute(
        update(_runs)
        .where(*mine, _runs.c.cancel_requested)
        .values(
            status=Status.CANCELLED,
            reason="It was cancelled.",
            ended_at=now(),
            owner=None,
            lease_until=None,
        )
    )
    if ended.rowcount:
        return get(connection, run_id)
    after = owner if owner.startswith(OWN) else None
    connection.execute(update(_runs).where(*mine).values(owner=after, lease_until=None))
    return None


def cancel(connection: Connection, run_id: str) -> Run | None:
    """Asks whoever executes a run to stop; one that nobody executes is over at once."""
    moment = now()
    connection.execute(
        update(_runs)
        .where(_runs.c.id == run_id, _runs.c.status.not_in(OVER))
        .values(cancel_requested=True, reason="It was cancelled.")
    )
    nobody = or_(_runs.c.lease_until.is_(None), _runs.c.lease_until < moment)
    connection.execute(
        update(_runs)
        .where(_runs.c.id == run_id, _runs.c.status.not_in(OVER), nobody)
        .values(status=Status.CANCELLED, ended_at=moment, owner=None, lease_until=None)
    )
    return get(connection, run_id)


def resume(connection: Connection, run_id: str, owner: str | None = None) -> Run | None:
    """Queues a run again that ended before all was done, for whom :func:`create` says. One that is not over goes on,
    also where it was to be cancelled."""
    if connection.dialect.name != "sqlite":
        # It may be about to end.
        connection.execute(select(_runs.c.id).where(_runs.c.id == run_id).with_for_update())
    connection.execute(
        update(_runs)
        .where(_runs.c.id == run_id, _runs.c.status.not_in(OVER), _runs.c.cancel_requested)
        .values(cancel_requested=False, reason=None)
    )
    connection.execute(
        update(_runs)
        .where(_runs.c.id == run_id, _runs.c.status.in_(OVER))
        .values(
            status=Status.QUEUED,
            reason=None,
            ended_at=None,
            cancel_requested=False,
            owner=owner,
            lease_until=None,
        )
    )
    return get(connection, run_id)


def _run(row: Any) -> Run:
    values = list(row)
    values[_STATUS] = Status(values[_STATUS])
    return Run(*values)


__all__ = [
    "OVER",
    "OWN",
    "NotOneError",
    "Run",
    "Status",
    "cancel",
    "count",
    "create",
    "end",
    "end_cancelled",
    "find",
    "free",
    "get",
    "held",
    "keep_inputs",
    "lease",
    "newest",
    "release",
    "renew",
    "resume",
]
