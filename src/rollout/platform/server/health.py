"""Whether the server is there, figures of it for Prometheus, and the contract of its API."""

from __future__ import annotations

from functools import cache
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

import rollout
from rollout.platform.server.access import needs
from rollout.platform.server.http import Json
from rollout.platform.store import runs
from rollout.platform.store.keys import Scope


async def health(request: Request) -> Response:
    """That it answers, and its version."""
    return Json({"status": "ok", "version": rollout.__version__})


async def ready(request: Request) -> Response:
    """That its database answers too."""
    await request.app.state.store.aread(runs.count)
    return Json({"status": "ok"})


@needs(Scope.ADMIN)
async def metrics(request: Request) -> Response:
    """The figures, in the text format of Prometheus, version 0.0.4."""
    counts = await request.app.state.store.aread(runs.count)
    runner = request.app.state.runner
    families = [
        (
            "rollout_runs",
            "gauge",
            "Runs by their status.",
            [(f'{{status="{k}"}}', v) for k, v in counts.items()],
        ),
        (
            "rollout_rollouts_under_way",
            "gauge",
            "Rollouts that this server is doing.",
            [("", runner.under_way)],
        ),
        (
            "rollout_rollouts_finished_total",
            "counter",
            "Rollouts that this server did.",
            [("", runner.finished)],
        ),
    ]
    lines = []
    for name, kind, words, values in families:
        lines += [f"# HELP {name} {words}", f"# TYPE {name} {kind}"]
        lines += [f"{name}{labels} {value}" for labels, value in values]
    return Response("\n".join(lines) + "\n", media_type="text/plain; version=0.0.4")


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
