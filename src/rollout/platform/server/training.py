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
from rollout.platform.server.bodies import check_shape, object_of
from rollout.platform.server.examples import examples
from rollout.platform.server.http import ApiError, Json, pointer
from rollout.platform.server.repeating import keep_answer, repeated
from rollout.platform.server.runs import not_one
from rollout.platform.store import Store, jobs, runs
from rollout.platform.store.ids import iso
from rollout.platform.store.jobs import Job
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
        provider: Provider = module.connect(request.app.state.runner.setup)
        try:
            job_id = await provider.begin(
                body["baseModel"].partition("/")[2],
                data,
                method=method,
                suffix=body.get("suffix") or None,
                hyperparams=body.get("hyperparams") or {},
            )
        finally:
            await provider.close()
    except HyperparamError as error:
        raise ApiError(422, str(error), error.hint, pointer=f"/hyperparams{pointer(error.route)}") from None
    except (TrainingError, ConnectError) as error:
        raise ApiError(422, str(error), error.hint) from None

    def keep(connection: Connection) -> dict[str, Any]:
        job = jobs.create(
            connection,
            run_id=run.id,
            provider=name,
            provider_job_id=job_id,
            base_model=body["baseModel"],
            method=method,
            suffix=body.get("suffix") or None,
            hyperparams={**(body.get("hyperparams") or {}), "training_method": method},
            rollout_ids=body["rolloutIds"],
            key_id=request.state.key.id or None,
        )
        answer = {"id": job.id, "providerJobId": job.provider_job_id}
        keep_answer(request, connection, 201, answer)
        return answer

    return Json(await store.awrite(keep), status_code=201)


@needs(Scope.READ)
async def list_jobs(request: Request) -> Response:
    """``{jobs: […]}``, the newest first."""
    return Json({"jobs": [shown(job) for job in await request.app.state.store.aread(jobs.newest)]})


@needs(Scope.WRITE)
async def refresh_job(request: Request) -> Response:
    """``{job}``, as its provider says it is now."""
    return Json({"job": shown(await refresh(request.app, request.path_params["job"]))})


async def refresh(app: Starlette, start: str) -> Job:
    """Looks how far the job is whose id begins with ``start``. Raises ApiError."""
    store: Store = app.state.store
    try:
        job = await store.aread(jobs.find, start)
    except NotOneError as error:
        raise not_one("training job", start, error) from None
    try:
        _, module = provider_of(job.base_model)
        provider: Provider = module.connect(app.state.runner.setup)
        try:
            found = await provider.look(job.provider_job_id or "")
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
