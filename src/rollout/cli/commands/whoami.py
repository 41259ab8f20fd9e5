"""`rollout whoami`: which platform is asked, and whether it takes the key."""

from __future__ import annotations

from typing import Annotated

import typer

from rollout.cli.asking import Where


def whoami(
    endpoint: Where = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Show which endpoint is asked, why, and whose the key is.

    Example: `rollout whoami --endpoint local`

    Exit code 0: the platform takes the key. 3: it does not, or is not there.
    """
    from rollout.cli.asking import asking, settings_for, who
    from rollout.cli.output import show, show_json, visible
    from rollout.platform.endpoints import which

    with asking(endpoint) as client:
        whose = who(client)
        _, chosen_by = which(endpoint, settings_for(endpoint))
    masked = client.api_key[:6] + "…" if client.api_key else None
    if as_json:
        data = {"endpoint": client.endpoint, "chosen_by": chosen_by, "key": masked, "whoami": whose}
        show_json("whoami", data)
        return
    how = {"given": "--endpoint", "": "nothing else was chosen"}.get(chosen_by, chosen_by)
    show(f"{client.endpoint} ({how})")
    if masked is None:
        show("It needs no key.")
    elif whose is None:
        show(f"The key {masked} is accepted.")
    else:
        show(f"The key {masked} is “{visible(whose['name'])}”, good for {visible(whose['scope'])}.")


__all__ = ["whoami"]
