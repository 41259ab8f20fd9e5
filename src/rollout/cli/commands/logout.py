"""`rollout logout`: forgets the key of a platform."""

from __future__ import annotations

from typing import Annotated

import typer

from rollout.cli.asking import Where


def logout(
    endpoint: Where = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Forget the key that was saved for an endpoint.

    The key itself stays good: whoever made it can revoke it at the platform.

    Example: `rollout logout --endpoint http://127.0.0.1:8321`

    Exit code 0: it is forgotten, or there was none. 3: the file of keys cannot be used.
    """
    import os

    from rollout.cli.asking import check_named, settings_for
    from rollout.cli.output import Exit, fail, note, show, show_json
    from rollout.platform import credentials
    from rollout.platform.credentials import CredentialsError
    from rollout.platform.endpoints import KEY_VARIABLE, EndpointError, which

    check_named(endpoint)
    try:
        url, _ = which(endpoint, settings_for(endpoint))
        forgotten = credentials.forget(url)
        if credentials.default_endpoint() == url:
            credentials.choose_endpoint(None)
    except (EndpointError, CredentialsError) as error:
        fail(str(error), error.hint, code=Exit.PLATFORM)
    if as_json:
        show_json("logout", {"endpoint": url, "forgotten": forgotten})
    else:
        show(f"✓ forgot the key for {url}" if forgotten else f"There is no key for {url}.")
    if os.environ.get(KEY_VARIABLE):
        note(f"note: {KEY_VARIABLE} is set, and still used.")


__all__ = ["logout"]
