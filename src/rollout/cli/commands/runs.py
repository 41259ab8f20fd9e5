"""`rollout runs`: the newest runs of a platform."""

from __future__ import annotations

from typing import Annotated

import typer

from rollout.cli.asking import Where


def runs(
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many to list at most.")] = 20,
    env: Annotated[
        str | None,
        typer.Option("--env", metavar="SLUG", help="Only runs of this environment.", show_default=False),
    ] = None,
    endpoint: Where = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """List the newest runs.

    An id may be given by its start wherever one is asked for.

    Example: `rollout runs --env refund-agent`

    Exit code 0: listed. 3: the platform could not be asked.
    """
    from rollout.analysis.words import percent
    from rollout.cli.asking import asking
    from rollout.cli.output import note, show_json
    from rollout.cli.table import show_table, when

    with asking(endpoint) as client:
        found = client.list_runs(limit, environment=env)
    if as_json:
        show_json("runs", {"endpoint": client.endpoint, "runs": found})
        return
    if not found:
        note(f"There is no run{f' of “{env}”' if env else ''} at {client.endpoint} yet.")
        return
    length = _enough([run["id"] for run in found])
    show_table(
        ("id", "environment", "model", "status", "done", "pass rate", "begun (UTC)", "name"),
        [
            (
                run["id"][:length],
                str(run.get("environmentSlug") or run["environmentName"]),
                run["model"],
                run["status"],
                f"{run['progress']:,}/{run['n']:,}",
                "" if run["successRate"] is None else percent(run["successRate"]),
                when(run.get("createdAt")),
                run.get("name") or "",
            )
            for run in found
        ],
    )


def _enough(ids: list[str]) -> int:
    """How many characters tell the ids apart; eight at least."""
    longest = max(map(len, ids))
    return next(
        (length for length in range(8, longest) if len({each[:length] for each in ids}) == len(ids)), longest
    )


__all__ = ["runs"]
