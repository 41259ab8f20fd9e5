"""`rollout cancel`: ends a run of a platform."""

from __future__ import annotations

from typing import Annotated

import typer

from rollout.cli.asking import Where


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

    Exit code 0: it is over, or will be in a moment. 3: there is no such run, or the platform could not be asked.
    """
    from rollout.cli.asking import asking, the_run
    from rollout.cli.output import show, show_json

    with asking(endpoint) as client:
        found = the_run(client, run)
        after = client.cancel_run(found["id"])
    if as_json:
        show_json("cancel", {"endpoint": client.endpoint, "run": after})
        return
    done = f", {after['done']:,} of {after['total']:,} rollouts are done" if "done" in after else ""
    was_over = found["status"] in ("done", "failed", "cancelled")
    how = f"was {found['status']} already" if was_over else "is cancelled"
    show(f"run {after['id']} {how}{done}")


__all__ = ["cancel"]
