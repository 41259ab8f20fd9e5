"""Training jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from rollout.platform.store import tables
from rollout.platform.store.database import AgainError
from rollout.platform.store.ids import new_id, now
from rollout.platform.store.runs import NotOneError

_jobs = tables.training_jobs

STARTING = "starting"
"""The status of a job that its provider is being asked for."""

UNKNOWN = "unknown"
"""The status of one that its provider was asked for, and that has begun or not."""


@dataclass(frozen=True, slots=True)
class Job:
    """A training job; ``status`` is in the words of its provider, once that has taken it. ``asked`` names the request
    that it came of, ``process`` whoever asks the provider. Times are in milliseconds since 1970."""

    id: str
    run_id: str
    provider: str
    provider_job_id: str | None
    base_model: str
    method: str
    suffix: str | None
    hyperparams: dict[str, Any]
    rollout_ids: list[str]
    status: str
    fine_tuned_model: str | None
    error: str | None
    created_at: int
    updated_at: int
    key_id: str | None
    asked: str | None
    process: str | None


def create(
    connection: Connection,
    *,
    run_id: str,
    provider: str,
    base_model: str,
    method: str,
    suffix: str | None,
    hyperparams: dict[str, Any],
    rollout_ids: Sequence[str],
    key_id: str | None = None,
    asked: str | None = None,
    process: str | None = None,
) -> Job:
    """A job that its provider is about to be asked for."""
    moment = now()
    job = Job(
        id=new_id(),
        run_id=run_id,
        provider=provider,
        provider_job_id=None,
        base_model=base_model,
        method=method,
        suffix=suffix,
        hyperparams=hyperparams,
        rollout_ids=list(rollout_ids),
        status=STARTING,
        fine_tuned_model=None,
        error=None,
        created_at=moment,
        updated_at=moment,
        key_id=key_id,
        asked=asked,
        process=process,
    )
    try:
        connection.execute(insert(_jobs).values(**{name: getattr(job, name) for name in Job.__slots__}))
    except IntegrityError:
        if asked is None:
            raise
        raise AgainError from None
    return job


def taken(connection: Connection, job_id: str, provider_job_id: str) -> None:
    """Notes down that its provider has taken a job, and by which id."""
    _change(connection, job_id, provider_job_id=provider_job_id, status="queued", error=None)


def lose(connection: Connection, job_id: str, error: str) -> None:
    """Notes down of a job that is starting that nobody knows whether it has begun; ``error`` says why."""
    connection.execute(
        update(_jobs)
        .where(_jobs.c.id == job_id, _jobs.c.status == STARTING)
        .values(status=UNKNOWN, error=error, updated_at=now())
    )


def remove(connection: Connection, job_id: str) -> None:
    """Forgets a job that its provider has refused."""
    connection.execute(delete(_jobs).where(_jobs.c.id == job_id, _jobs.c.provider_job_id.is_(None)))


def starting(connection: Connection) -> list[Job]:
    """The jobs that providers are being asked for."""
    return [_job(row) for row in connection.execute(select(_jobs).where(_jobs.c.status == STARTING))]


def by_request(connection: Connection, asked: str) -> Job | None:
    """The job that came of the request of that name."""
    row = connection.execute(select(_jobs).where(_jobs.c.asked == asked)).one_or_none()
    return None if row is None else _job(row)


def newest(connection: Connection) -> list[Job]:
    """All jobs, the newest first."""
    query = select(_jobs).order_by(_jobs.c.created_at.desc(), _jobs.c.id.desc())
    return [_job(row) for row in connection.execute(query)]


def find(connection: Connection, start: str) -> Job:
    """The only job whose id begins with ``start``. Raises NotOneError."""
    wanted = start.lower().replace("-", "")
    if not wanted or not all(char in "0123456789abcdef" for char in wanted):
        raise NotOneError(start, ())
    query = select(_jobs).where(_jobs.c.id >= wanted, _jobs.c.id < wanted + "g").order_by(_jobs.c.id).limit(4)
    rows = connection.execute(query).all()
    if len(rows) != 1:
        raise NotOneError(start, [row.id for row in rows])
    return _job(rows[0])


def progress(
    connection: Connection, job_id: str, *, status: str, model: str | None, error: str | None
) -> None:
    """Notes down how far a job is."""
    _change(connection, job_id, status=status, fine_tuned_model=model, error=error)


def _change(connection: Connection, job_id: str, **values: Any) -> None:
    connection.execute(update(_jobs).where(_jobs.c.id == job_id).values(**values, updated_at=now()))


def _job(row: Any) -> Job:
    return Job(**{name: getattr(row, name) for name in Job.__slots__})


__all__ = [
    "STARTING",
    "UNKNOWN",
    "Job",
    "by_request",
    "create",
    "find",
    "lose",
    "newest",
    "progress",
    "remove",
    "starting",
    "taken",
]
