"""The page of one rollout: what was said and called, what changed, and the verdict."""

from __future__ import annotations

import asyncio
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.analysis.report.texts import Texts
from rollout.analysis.report.transcript import transcript
from rollout.engine.rollout_line import read_line
from rollout.engine.stored import StoredError, from_json
from rollout.platform.pages.showing import show, texts_of
from rollout.platform.pages.visiting import page
from rollout.platform.server.http import ApiError
from rollout.platform.server.runs import find_run, not_one
from rollout.platform.store import Store, environments, listing, rollouts
from rollout.platform.store.rollouts import Brief
from rollout.platform.store.runs import NotOneError


@page()
async def show_rollout(request: Request) -> Response:
    """A rollout, whole."""
    store: Store = request.app.state.store
    brief, line = await _found(store, request.path_params["rollout"])
    run = await find_run(store, brief.run_id)
    entries = await store.aread(environments.by_id, {run.environment_id})
    place, texts = (brief.task_index, brief.trial), texts_of(request)
    try:
        told = await asyncio.to_thread(_told, line, texts)
    except (StoredError, AttributeError, KeyError, TypeError, ValueError):
        raise ApiError(
            500, "What is kept of this rollout cannot be read.", "Get it as it is: add /line to the address."
        ) from None
    return show(
        request,
        "rollout.html.jinja",
        {
            "brief": brief,
            "run": run,
            "entry": entries[run.environment_id],
            "told": told,
            "before": await store.aread(listing.beside, run.id, place, before=True),
            "after": await store.aread(listing.beside, run.id, place, before=False),
            "all": request.query_params.get("all") == "1",
        },
    )


@page()
async def get_line(request: Request) -> Response:
    """The line of a rollout as a run's journal has it, to be kept."""
    brief, line = await _found(request.app.state.store, request.path_params["rollout"])
    headers = {
        "cache-control": "no-store",
        "content-disposition": f'attachment; filename="rollout-{brief.id}.json"',
        "content-security-policy": "default-src 'none'; sandbox",
    }
    return Response(line, 200, headers, "application/json")


async def _found(store: Store, start: str) -> tuple[Brief, bytes]:
    try:
        return await store.aread(rollouts.find, start)
    except NotOneError as error:
        raise not_one("rollout", start, error) from None


def _told(line: bytes, texts: Texts) -> dict[str, Any]:
    kept: dict[str, Any] = read_line(line)
    rollout = from_json(kept)
    told = transcript(rollout, kept.get("earlier") or (), texts)
    return {**told, "initial": texts.json(rollout.trace.initial_state)}


routes = [
    Route("/rollouts/{rollout}", show_rollout, methods=["GET"]),
    Route("/rollouts/{rollout}/line", get_line, methods=["GET"]),
]

__all__ = ["routes"]
