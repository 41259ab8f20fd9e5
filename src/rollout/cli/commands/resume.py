"""`rollout resume`: goes on with a run of a platform that ended before all was done."""

from __future__ import annotations

from typing import Annotated

import typer

from rollout.cli.asking import Where


def resume(
    run: Annotated[
        str, typer.Argument(metavar="RUN", help="The run, by the start of its id.", show_default=False)
    ],
    watch: Annotated[
        bool, typer.Option("--watch/--no-watch", help="Follow the run to its end, or leave when it goes on.")
    ] = True,
    endpoint: Where = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Go on with a run; no rollout of it is done twice.

    A run can be gone on with that was interrupted or cancelled, or that failed.

    Example: `rollout resume 5f0c1a2b`

    Exit code 0: every rollout passed, or the run goes on (--no-watch). 1: one failed, broke or was not done. 2: wrong
    usage. 3: the platform refused, as for a run of which all is done. 130: interrupted.
    """
    from shlex import quote

    from rollout.cli.asking import asking, the_run
    from rollout.cli.following import Following
    from rollout.cli.output import fail, show, show_json, visible

    with asking(endpoint) as client:
        if client.endpoint == "local" and not watch:
            fail("On local a run is done by the command that goes on with it.", "Leave out --no-watch.")
        after = client.resume_run(the_run(client, run)["id"])
        if not watch:
            if as_json:
                show_json("resume", {"endpoint": client.endpoint, "run": after})
            else:
                show(f"run {visible(after['id'])} goes on")
            return
        to_go_on = f" --endpoint {quote(endpoint)}" if endpoint else ""
        following = Following(client, after["id"], after["n"], after["progress"])
        following.follow_and_tell("resume", as_json=as_json, to_go_on=to_go_on)


__all__ = ["resume"]
