"""Whether the server is there, figures of it for Prometheus, and the contract of its API."""

from __future__ import annotations

from functools import cache
from typing import Any

from sqlalchemy import Connection
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import rollout
from rollout.platform.server.access import needs
from rollout.platform.server.figures import Family, text
from rollout.platform.server.http import Json
from rollout.platform.store import repeats, runs
from rollout.platform.store.ids import new_id, now
from rollout.platform.store.keys import Scope


async def health(request: Request) -> Response:
    """That it answers, and its version. Raises FullError while there is no room for what is to be kept."""
    if (store := request.app.state.store).is_full:
        await store.awrite(_take_room)
    return Json({"status": "ok", "version": rollout.__version__})


def _take_room(connection: Connection) -> None:
    name = new_id()
    repeats.begin(connection, "", name, "")
    repeats.forget(connection, "", name)


async def ready(request: Request) -> Response:
    """That its database answers too."""
    await request.app.state.store.aread(runs.count)
    return Json({"status": "ok"})


@needs(Scope.ADMIN)
async def metrics(request: Request) -> Response:
    """The figures, in the text format of Prometheus, version 0.0.4."""
    store, runner = request.app.state.store, request.app.state.runner
    counts, oldest = await store.aread(runs.count), await store.aread(runs.oldest_queued)
    families = [
        Family("rollout_info", "gauge", "The version.", [("", {"version": rollout.__version__}, 1)]),
        Family(
            "rollout_runs",
            "gauge",
            "Runs of the database by their status.",
            [("", {"status": status}, amount) for status, amount in counts.items()],
        ),
        Family(
            "rollout_oldest_queued_seconds",
            "gauge",
            "How long the run has waited that was first to be queued.",
            [("", {}, 0.0 if oldest is None else max(0.0, (now() - oldest) / 1000))],
        ),
        Family(
            "rollout_rollouts_under_way",
            "gauge",
            "Rollouts that this server is doing.",
            [("", {}, runner.under_way)],
        ),
        *runner.figures.families(),
    ]
    return Response(text(families), media_type="text/plain; version=0.0.4")


async def contract(request: Request) -> Response:
    """The OpenAPI document of all that is answered."""
    return Json(_contract())


@cache
def _contract() -> Any:
    from importlib.resources import files

    from yaml import CSafeLoader, load

    return load((files(__package__) / "openapi.yaml").read_bytes(), CSafeLoader)


routes = [
    Route("/api/openapi.json", contract, methods=["GET"]),
    Route("/api/health", health, methods=["GET"]),
    Route("/api/ready", ready, methods=["GET"]),
    Route("/metrics", metrics, methods=["GET"]),
]

__all__ = ["routes"]
