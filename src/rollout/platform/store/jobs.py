"""Training jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from rollout.platform.store import tables
from rollout.platform.store.ids import new_id, now
from rollout.platform.store.runs import NotOneError

_jobs = tables.training_jobs


@dataclass(frozen=True, slots=True)
class Job:
    """A training job; ``status`` is in the words of its provider. Times are in milliseconds since 1970."""

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


def create(
    connection: Connection,
    *,
    run_id: str,
    provider: str,
    provider_job_id: str,
    base_model: str,
    method: str,
    suffix: str | None,
    hyperparams: dict[str, Any],
    rollout_ids: Sequence[str],
    key_id: str | None = None,
) -> Job:
    """A job that its provider has taken."""
    moment = now()
    job = Job(
        id=new_id(),
        run_id=run_id,
        provider=provider,
        provider_job_id=provider_job_id,
        base_model=base_model,
        method=method,
        suffix=suffix,
        hyperparams=hyperparams,
        rollout_ids=list(rollout_ids),
        status="queued",
        fine_tuned_model=None,
        error=None,
        created_at=moment,
        updated_at=moment,
        key_id=key_id,
    )
    connection.execute(insert(_jobs).values(**{name: getattr(job, name) for name in Job.__slots__}))
    return job


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
    connection.execute(
        update(_jobs)
        .where(_jobs.c.id == job_id)
        .values(status=status, fine_tuned_model=model, error=error, updated_at=now())
    )


def _job(row: Any) -> Job:
    return Job(**{name: getattr(row, name) for name in Job.__slots__})


__all__ = ["Job", "create", "find", "newest", "progress"]
