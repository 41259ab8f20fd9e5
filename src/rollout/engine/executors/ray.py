"""ray: rollouts are spread over the machines of a Ray cluster, which ``ray:ADDRESS`` names.

``ray`` alone joins the cluster in RAY_ADDRESS, or else starts one on this machine, ``ray:auto`` joins the one that this
machine is part of, and ``ray:HOST:PORT`` the one at that address.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from importlib.util import find_spec

from rollout.engine.budget import Budget
from rollout.engine.executors import AbsentError, ExecutorError, Recipe
from rollout.engine.executors._cluster import check_address, join
from rollout.engine.executors._parcel import pack
from rollout.engine.executors._pool import PATIENCE, Pool

VARIABLE = "ROLLOUT_RAY_PATIENCE"
"""The environment variable that says how many seconds a run goes on without any worker."""

_AT_HOME = {"human": "You sit at this machine", "replay": "The recording lies on this machine"}


def check(address: str) -> None:
    """Raises AbsentError where Ray is not installed, and ExecutorError for what is no address."""
    if find_spec("ray") is None:
        raise AbsentError(
            "Ray is not installed here, so no cluster can be joined.",
            "Install it with rollout: pip install 'rolloutdev[ray]', in a clone -e '.[ray]'",
        )
    check_address(address)


def start(
    address: str, recipe: Recipe, *, concurrency: int, budget: Budget, tell: Callable[[str], None]
) -> Pool:
    """The executor on a cluster. Raises ExecutorError, ConnectError and TemplateError."""
    name = recipe.model.partition(":")[0]
    if name in _AT_HOME:
        raise ExecutorError(
            f"{_AT_HOME[name]}, so “{name}” cannot act on another machine.",
            "Leave out --executor, or name another.",
        )
    patience = _patience()
    parcel = pack(recipe)
    return Pool(
        join(address),
        parcel,
        model=recipe.model,
        concurrency=concurrency,
        budget=budget,
        tell=tell,
        patience=patience,
    )


def _patience() -> float:
    """How many seconds a cluster may be without a worker, such as until machines are rented."""
    given = os.environ.get(VARIABLE, "").strip()
    try:
        seconds = float(given or PATIENCE)
    except ValueError:
        seconds = math.nan
    if not 0 < seconds < math.inf:
        raise ExecutorError(
            f"{VARIABLE} is “{given}”, which is no number of seconds.", f"Set it to {PATIENCE:g}."
        )
    return seconds


__all__ = ["VARIABLE", "check", "start"]
