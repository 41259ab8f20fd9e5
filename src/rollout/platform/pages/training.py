"""The pages of training jobs."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.platform.pages.cursors import after_in, rest
from rollout.platform.pages.environments import yaml
from rollout.platform.pages.showing import PAGE, link, show, texts_of
from rollout.platform.pages.visiting import page, to
from rollout.platform.server.beginning import settle
from rollout.platform.server.runs import not_one
from rollout.platform.server.training import refresh
from rollout.platform.store import Store, jobs, listing
from rollout.platform.store.keys import Scope
from rollout.platform.store.runs import NotOneError


@page()
async def list_jobs(request: Request) -> Response:
    """All training jobs, the newest first."""
    store: Store = request.app.state.store
    await settle(store)
    after = after_in(request, (int, str))
    found = await store.aread(listing.jobs, limit=PAGE + 1, after=after)
    rows, following = rest(found, PAGE, lambda row: (row.created_at, row.id))
    sources = await store.aread(listing.runs_by_id, {row.run_id for row in rows})
    return show(
        request,
        "jobs.html.jinja",
        {"rows": rows, "next": following, "is_first": not after, "sources": sources},
    )


@page()
async def show_job(request: Request) -> Response:
    """A training job."""
    store: Store = request.app.state.store
    await settle(store)
    start = request.path_params["job"]
    try:
        job = await store.aread(jobs.find, start)
    except NotOneError as error:
        raise not_one("training job", start, error) from None
    texts = texts_of(request)
    sources = await store.aread(listing.runs_by_id, {job.run_id})
    return show(
        request,
        "job.html.jinja",
        {
            "job": job,
            "source": sources[job.run_id],
            "hyperparams": yaml(job.hyperparams, texts) if job.hyperparams else None,
            "error": texts.block(job.error) if job.error else None,
            "may_write": request.state.key.allows(Scope.WRITE),
        },
    )


@page(Scope.WRITE)
async def refresh_job(request: Request) -> Response:
    """Looks how far a job is."""
    job = await refresh(request.app, request.path_params["job"])
    return to(link("/training", job.id))


routes = [
    Route("/training", list_jobs, methods=["GET"]),
    Route("/training/{job}", show_job, methods=["GET"]),
    Route("/training/{job}/refresh", refresh_job, methods=["POST"]),
]

__all__ = ["routes"]
