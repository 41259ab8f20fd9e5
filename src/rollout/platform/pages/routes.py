"""All pages, by their addresses."""

from __future__ import annotations

from starlette.routing import Route

from rollout.platform.pages import (
    assets,
    changes,
    compare,
    environments,
    keys,
    new,
    rollouts,
    runs,
    signing_in,
    training,
)

routes: list[Route] = [
    # What is at an address of its own comes before what has a name in its place.
    *new.routes,
    *environments.routes,
    *changes.routes,
    *runs.routes,
    *rollouts.routes,
    *compare.routes,
    *training.routes,
    *keys.routes,
    *signing_in.routes,
    *assets.routes,
]

__all__ = ["routes"]
