"""`rollout cancel`: ends a run of a platform."""

from __future__ import annotations

from time import monotonic, sleep
from typing import TYPE_CHECKING, Annotated

import typer

from rollout.cli.asking import Where

if TYPE_CHECKING:
    from rollout.platform.client import Client
    from rollout.platform.results import Run

_SECONDS_TO_STOP = 20.0
_BETWEEN_LOOKS = 0.2


def cancel(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="The run, by the start of its id.", show_default=False)
    ],
    endpoint: Where = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """End a run; what is done of it is kept.

    `rollout resume` goes on with it.

    Example: `rollout cancel 5f0c1a2b`

    Where another process executes it, it is waited for until that has stopped.

    Exit code 0: it is over, or is being cancelled. 3: there is no such run, or the platform could not be asked.
    """
    from rollout.cli.asking import asking, the_run
    from rollout.cli.output import show, show_json, visible
    from rollout.platform.watching import OVER

    with asking(endpoint) as client:
        found = the_run(client, run)
        after = _ended(client, client.cancel_run(found["id"]))
    if as_json:
        show_json("cancel", {"endpoint": client.endpoint, "run": after})
        return
    how = f"is {visible(after['status'])}"
    if found["status"] in OVER:
        how = f"was {visible(found['status'])} already"
    elif after["status"] not in OVER:
        how = "is being cancelled"
    so_far = "" if after["status"] in OVER else " so far"
    done = f"{after['progress']:,} of {after['n']:,} rollouts are done{so_far}"
    show(f"run {visible(after['id'])} {how}, {done}")


def _ended(client: Client, run: Run) -> Run:
    """The run when whoever executes it has stopped; as it is after a while, where that has not happened."""
    from rollout.platform.watching import OVER

    until = monotonic() + _SECONDS_TO_STOP
    while run["status"] not in OVER and monotonic() < until:
        sleep(_BETWEEN_LOOKS)
        run = client.get_run(run["id"])["run"]
    return run


__all__ = ["cancel"]
