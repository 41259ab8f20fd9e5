"""Training jobs: begin one on the rollouts of a run, list them, look how far one is."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Connection
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.models import ConnectError
from rollout.platform.server.access import needs
from rollout.platform.server.beginning import settle
from rollout.platform.server.bodies import check_shape, object_of
from rollout.platform.server.examples import examples
from rollout.platform.server.http import ApiError, Json, pointer
from rollout.platform.server.processes import this_process
from rollout.platform.server.repeating import keep_answer, mark_of, repeated, under_way
from rollout.platform.server.runs import not_one
from rollout.platform.store import Store, jobs, runs
from rollout.platform.store.ids import iso
from rollout.platform.store.jobs import STARTING, Job
from rollout.platform.store.keys import Scope
from rollout.platform.store.runs import NotOneError
from rollout.training.providers import (
    HyperparamError,
    Provider,
    TrainingError,
    check_hyperparams,
    provider_of,
)

_LARGEST = 16 * 1024 * 1024


@needs(Scope.WRITE)
@repeated
async def create_job(request: Request) -> Response:
    """Trains a model on rollouts of a run; ``{id, providerJobId}``."""
    body = await object_of(request, limit=_LARGEST)
    await check_shape(request, "training", body)
    store: Store = request.app.state.store
    try:
        run = await store.aread(runs.find, body["sourceRunId"])
    except NotOneError as error:
        raise not_one("run", body["sourceRunId"], error) from None
    method = body.get("method", "sft")
    try:
        name, module = provider_of(body["baseModel"])
        if method not in module.METHODS:
            raise TrainingError(
                f"“{name}” is not asked to train by {method} here.", f"It is by {', '.join(module.METHODS)}."
            )
        check_hyperparams(body.get("hyperparams") or {}, module.METHODS[method])
        data = await examples(store, run, body["rolloutIds"], method)
    except HyperparamError as error:
        raise ApiError(422, str(error), error.hint, pointer=f"/hyperparams{pointer(error.route)}") from None
    except TrainingError as error:
        raise ApiError(422, str(error), error.hint) from None
    suffix, hyperparams, mark = body.get("suffix") or None, body.get("hyperparams") or {}, mark_of(request)

    def create(connection: Connection) -> tuple[Job, bool]:
        before = None if mark is None else jobs.by_request(connection, mark)
        if before is not None:
            return before, False
        job = jobs.create(
            connection,
            run_id=run.id,
            provider=name,
            base_model=body["baseModel"],
            method=method,
            suffix=suffix,
            hyperparams={**hyperparams, "training_method": method},
            rollout_ids=body["rolloutIds"],
            key_id=request.state.key.id or None,
            asked=mark,
            process=this_process(),
        )
        return job, True

    async def ask() -> str:
        provider: Provider = module.connect(request.app.state.runner.setup)
        try:
            return await provider.begin(
                body["baseModel"].partition("/")[2],
                data,
                method=method,
                suffix=suffix,
                hyperparams=hyperparams,
            )
        finally:
            await provider.close()

    def keep(connection: Connection, provider_job_id: str) -> None:
        jobs.taken(connection, job.id, provider_job_id)
        keep_answer(request, connection, 201, _begun(job.id, provider_job_id))

    await settle(store)
    job, is_new = await store.awrite(create)
    if not is_new:
        return _again(job)
    try:
        provider_job_id = await request.app.state.beginnings.begin(job, ask, keep)
    except (TrainingError, ConnectError) as error:
        # Not a status at which it is asked again: that might be paid for again.
        raise ApiError(422, str(error), error.hint) from None
    return Json(_begun(job.id, provider_job_id), status_code=201)


def _begun(job_id: str, provider_job_id: str) -> dict[str, Any]:
    return {"id": job_id, "providerJobId": provider_job_id}


def _again(job: Job) -> Response:
    """What a request is answered whose job is there already. Raises ApiError where that has not begun, or may not."""
    if job.provider_job_id is not None:
        return Json(_begun(job.id, job.provider_job_id), status_code=201)
    if job.status == STARTING:
        raise under_way()
    raise ApiError(422, job.error or "Nobody knows whether the job has begun.")


@needs(Scope.READ)
async def list_jobs(request: Request) -> Response:
    """``{jobs: […]}``, the newest first."""
    store: Store = request.app.state.store
    await settle(store)
    return Json({"jobs": [shown(job) for job in await store.aread(jobs.newest)]})


@needs(Scope.WRITE)
async def refresh_job(request: Request) -> Response:
    """``{job}``, as its provider says it is now."""
    return Json({"job": shown(await refresh(request.app, request.path_params["job"]))})


async def refresh(app: Starlette, start: str) -> Job:
    """Looks how far the job is whose id begins with ``start``, where its provider has taken it. Raises ApiError."""
    store: Store = app.state.store
    await settle(store)
    try:
        job = await store.aread(jobs.find, start)
    except NotOneError as error:
        raise not_one("training job", start, error) from None
    if job.provider_job_id is None:
        return job
    try:
        _, module = provider_of(job.base_model)
        provider: Provider = module.connect(app.state.runner.setup)
        try:
            found = await provider.look(job.provider_job_id)
        finally:
            await provider.close()
    except (TrainingError, ConnectError) as error:
        raise ApiError(502, str(error), error.hint) from None
    await store.awrite(jobs.progress, job.id, status=found.status, model=found.model, error=found.error)
    return await store.aread(jobs.find, job.id)


def shown(job: Job) -> dict[str, Any]:
    """A job, as :class:`rollout.platform.results.TrainingJob`."""
    return {
        "id": job.id,
        "sourceRunId": job.run_id,
        "status": job.status,
        "provider": job.provider,
        "providerJobId": job.provider_job_id,
        "baseModel": job.base_model,
        "method": job.method,
        "suffix": job.suffix,
        "hyperparams": job.hyperparams,
        "rollouts": len(job.rollout_ids),
        "fineTunedModel": job.fine_tuned_model,
        "error": job.error,
        "createdAt": iso(job.created_at),
        "updatedAt": iso(job.updated_at),
    }


routes = [
    Route("/api/training-jobs", list_jobs, methods=["GET"]),
    Route("/api/training-jobs", create_job, methods=["POST"]),
    Route("/api/training-jobs/{job}/refresh", refresh_job, methods=["POST"]),
]

__all__ = ["refresh", "routes", "shown"]
