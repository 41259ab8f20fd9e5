"""`rollout push`: sends environments and their verifiers to a platform, after showing what will change there."""

from __future__ import annotations

from typing import Annotated

import typer

from rollout.cli.asking import Where


def push(
    paths: Annotated[
        list[str],
        typer.Argument(
            metavar="PATH…", help="Environments, folders of them, or Python files.", show_default=False
        ),
    ],
    slug: Annotated[
        str | None,
        typer.Option(
            metavar="SLUG", help="Only this environment, where there are several.", show_default=False
        ),
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would change, and send nothing.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", "-y", help="Do not ask before something is replaced.")
    ] = False,
    force: Annotated[
        bool,
        typer.Option("--force", help="Replace what is there even if somebody else has changed it since."),
    ] = False,
    endpoint: Where = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Check environments, show what will change, and send it.

    What is there as it is here is not sent again. What was last pushed from here is remembered in `.rollout/`: where
    the platform holds something else by now, both changes are shown and nothing is sent, unless `--force` says so.
    Ids, solutions and x- keys stay here. With several environments, one that fails does not keep the others.

    At a terminal it asks before it replaces anything; elsewhere it replaces only what was pushed from here, unless
    `--yes` says otherwise.

    Example: `rollout push envs/refund --endpoint local`

    Exit code 0: all are there. 1: an environment has errors, or was not pushed. 2: a path or a file that cannot be
    read. 3: the platform refused one, or could not be asked.
    """
    from rollout.cli.asking import asking, check_named
    from rollout.cli.inputs import exit_code, reports, tell_diagnostics
    from rollout.cli.output import Exit, show_json
    from rollout.cli.pushing import Pushing

    check_named(endpoint)
    found = list(reports(paths, slug=slug))
    broken = [report for report in found if not report.ok]
    if broken:
        tell_diagnostics(broken, among=found)
    code = int(exit_code(broken))
    with asking(endpoint) as client:
        pushing = Pushing(client, dry_run=dry_run, yes=yes, force=force, quiet=as_json)
        for report in found:
            if report.ok:
                pushing.push(report.document, report.environment())
            else:
                pushing.leave_out(report)
    if as_json:
        show_json("push", {"endpoint": client.endpoint, "environments": pushing.told})
    if pushing.refused:
        code = int(Exit.PLATFORM)
    elif pushing.stopped:
        code = code or int(Exit.FINDINGS)
    raise typer.Exit(code)


__all__ = ["push"]
