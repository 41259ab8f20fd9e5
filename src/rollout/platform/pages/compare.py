"""The page that sets two runs side by side."""

from __future__ import annotations

import asyncio
from typing import Any

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from rollout.analysis.compare import Side
from rollout.analysis.compare import page as comparison_page
from rollout.analysis.compare.comparing import compare, other_version
from rollout.analysis.report.texts import Texts
from rollout.compile.payload import environment_of
from rollout.platform.comparing import side_of
from rollout.platform.pages.showing import show, texts_of
from rollout.platform.pages.visiting import page
from rollout.platform.server.http import ApiError
from rollout.platform.server.runs import find_run, shown, shown_rollout
from rollout.platform.store import Store, environments, listing, rollouts
from rollout.platform.store.runs import Run

_CHOICES = 100
_MOST_ROLLOUTS = 200_000

# Two comparisons of large runs at once would be all that the server does.
_COMPARING = asyncio.Semaphore(1)


@page()
async def show_comparison(request: Request) -> Response:
    """The form to choose two runs, and what the second is against the first."""
    store, query = request.app.state.store, request.query_params
    chosen = [
        await find_run(store, start) if (start := query.get(name, "").strip()) else None
        for name in ("baseline", "trained")
    ]
    baseline, trained = chosen
    told: dict[str, Any] = {"comparison": None, "error": None}
    if baseline is not None and trained is not None:
        try:
            told["comparison"] = await _compare(
                store, baseline, trained, texts_of(request), query.get("across") == "1"
            )
        except ApiError as error:
            told["error"] = error.body
    # Runs of the same environment are what one is compared with.
    known = next((run.environment_id for run in chosen if run is not None), None)
    choices = await store.aread(listing.runs, limit=_CHOICES, environment_id=known)
    missing = [run.id for run in chosen if run is not None and run.id not in {row.id for row in choices}]
    choices = [*(await store.aread(listing.runs_by_id, missing)).values(), *choices]
    return show(
        request,
        "compare.html.jinja",
        {
            **told,
            "choices": choices,
            "baseline": baseline.id if baseline else "",
            "trained": trained.id if trained else "",
            "across": query.get("across") == "1",
        },
    )


async def _compare(store: Store, baseline: Run, trained: Run, texts: Texts, across: bool) -> dict[str, Any]:
    for run in (baseline, trained):
        if not run.done:
            raise ApiError(409, f"No rollout of the run {run.id[:8]} is done yet.", "Wait for it.")
        if run.done > _MOST_ROLLOUTS:
            raise ApiError(
                413, "The runs are too large for a page.", f"Run: rollout compare {baseline.id} {trained.id}"
            )
    async with _COMPARING:
        before, after = [await _side(store, run) for run in (baseline, trained)]
        return await asyncio.to_thread(_told, before, after, texts, across)


async def _side(store: Store, run: Run) -> Side:
    entry = (await store.aread(environments.by_id, {run.environment_id}))[run.environment_id]
    data = await store.aread(environments.data, run.environment_id, run.digest)
    assert data is not None
    briefs = await store.aread(rollouts.page, run.id)

    def made() -> Side:
        told: Any = shown(run, entry)
        each: Any = (shown_rollout(brief) for brief in briefs)
        return side_of(told, each, environment_of(orjson.loads(data)))

    return await asyncio.to_thread(made)


def _told(before: Side, after: Side, texts: Texts, across: bool) -> dict[str, Any]:
    if not across:
        if before.environment != after.environment:
            raise ApiError(
                409,
                f"The runs are of different environments: “{before.environment}” and “{after.environment}”.",
                "Compare runs of one environment, or the tasks that both have.",
            )
        if changed := other_version(before, after):
            what = " and ".join(f"the {part}" for part in changed)
            raise ApiError(
                409,
                f"The runs are of different versions of “{before.environment}”: {what} changed between them.",
                "Run one of them again, or compare the tasks that both have.",
            )
    return comparison_page.told(compare(before, after), texts)


routes = [Route("/compare", show_comparison, methods=["GET"])]

__all__ = ["routes"]
