"""`rollout envs`: the environments of a platform, or the versions of one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from rollout.cli.asking import Where

if TYPE_CHECKING:
    from rollout.platform.client import Client


def envs(
    versions: Annotated[
        str | None,
        typer.Option(
            "--versions",
            metavar="SLUG",
            help="The versions of this environment, the newest first.",
            show_default=False,
        ),
    ] = None,
    endpoint: Where = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """List the environments that were pushed, or every version of one.

    A version is kept by its digest: `rollout pull SLUG@DIGEST` writes it into a folder.

    Example: `rollout envs --versions refund-agent`

    Exit code 0: listed. 3: the platform could not be asked.
    """
    from rollout.cli.asking import asking
    from rollout.cli.output import note, show_json
    from rollout.cli.table import show_table, when

    with asking(endpoint) as client:
        if versions is not None:
            _versions(client, versions, as_json=as_json)
            return
        found = client.list_environments()
    if as_json:
        show_json("envs", {"endpoint": client.endpoint, "environments": found})
        return
    if not found:
        note(f"There is no environment at {client.endpoint} yet. Push one: rollout push PATH")
        return
    show_table(
        ("slug", "name", "template", "tasks", "version", "updated (UTC)"),
        [
            (
                each["slug"],
                each["name"],
                each["template"],
                f"{each['taskCount']:,}",
                str(each.get("version") or ""),
                when(each.get("updatedAt")),
            )
            for each in found
        ],
    )


def _versions(client: Client, slug: str, *, as_json: bool) -> None:
    from rollout.cli.output import show_json
    from rollout.cli.table import show_table, when

    found = client.list_versions(slug)
    if as_json:
        show_json("envs", {"endpoint": client.endpoint, "slug": slug, "versions": found})
        return
    show_table(
        ("version", "digest", "tasks", "pushed (UTC)", ""),
        [
            (
                str(each["number"]),
                each["digest"].removeprefix("sha256:")[:16],
                f"{each['taskCount']:,}",
                when(each["pushedAt"]),
                "held now" if each.get("current") else "",
            )
            for each in found
        ],
    )


__all__ = ["envs"]
