"""`rollout login`: saves the key of a platform, once the platform has taken it."""

from __future__ import annotations

from typing import Annotated

import typer


def login(
    endpoint: Annotated[
        str | None,
        typer.Option(
            "--endpoint",
            metavar="NAME",
            help="A platform's address, or local; else ROLLOUT_ENDPOINT, or the hosted one.",
            show_default=False,
        ),
    ] = None,
    default: Annotated[
        bool,
        typer.Option("--default", help="Ask this one from now on, wherever none is named."),
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")] = False,
) -> None:
    """Save a key, after the platform has accepted it.

    The key is asked for without being shown, or read from standard input where that is no terminal. It is kept in
    ~/.config/rollout/credentials, which only you can read, and sent to no other endpoint. The first endpoint that you
    log in to is the one that is asked from then on where none is named; `--default` changes that.

    `local` needs no key: `rollout login --endpoint local --default` only makes it the one that is asked.

    Example: `rollout login --endpoint http://127.0.0.1:8321`

    Exit code 0: saved. 2: what was given is no key or no endpoint. 3: the platform did not accept it, or was not there.
    """
    from rollout.cli.asking import check_named, refuse, who
    from rollout.cli.output import Exit, fail, note, show, show_json, visible
    from rollout.platform import credentials
    from rollout.platform.client import Client
    from rollout.platform.credentials import CredentialsError
    from rollout.platform.endpoints import Endpoint, EndpointError, check_key, which
    from rollout.platform.errors import RolloutError
    from rollout.settings import Settings

    check_named(endpoint)
    try:
        # A project does not say where a key is typed into.
        url = Endpoint(which(endpoint, Settings())[0] if endpoint else _asked_for()).url
        is_first = credentials.default_endpoint() is None and not credentials.endpoints()
        key = None if url == "local" else _key(url)
        if key is not None:
            check_key(key)
            if not key.startswith("rk_"):
                fail("A key of a platform begins with rk_.", f"Get one at {url}/settings/api-keys.")
    except EndpointError as error:
        fail(str(error), error.hint)
    except CredentialsError as error:
        fail(str(error), error.hint, code=Exit.PLATFORM)
    whose = None
    try:
        if key is not None:
            with Client(endpoint=Endpoint(url, key)) as client:
                whose = who(client)
            credentials.save(url, key)
        if default or is_first:
            credentials.choose_endpoint(url)
    except RolloutError as error:
        refuse(error)
    except CredentialsError as error:
        fail(str(error), error.hint, code=Exit.PLATFORM)
    chosen = credentials.default_endpoint() == url
    if as_json:
        show_json("login", {"endpoint": url, "default": chosen, "key": whose})
    elif key is None:
        show("local needs no key." + (" It is asked from now on." if chosen else ""))
    else:
        show(f"✓ saved credentials for {url}")
        if whose is not None:
            note(f"The key is “{visible(whose['name'])}”, good for {visible(whose['scope'])}.")
    if not chosen:
        note(f"note: It is asked with --endpoint {url}; with --default it would be without.")


def _asked_for() -> str:
    import os

    from rollout.platform.endpoints import HOSTED, VARIABLE, normal

    return normal(os.environ.get(VARIABLE, "").strip() or HOSTED)


def _key(url: str) -> str:
    import sys
    from urllib.parse import urlsplit

    from rollout.cli.output import note

    host = urlsplit(url).hostname or ""
    if url.startswith("http://") and host not in ("localhost", "::1") and not host.startswith("127."):
        note(f"note: {url} is not encrypted: whoever is on the way there can read the key.")
    if sys.stdin is not None and sys.stdin.isatty():
        note(f"Get an API key at {url}/settings/api-keys")
        typed: str = typer.prompt("Paste API key (rk_…)", hide_input=True, err=True)
        return typed.strip()
    return (sys.stdin.readline() if sys.stdin is not None else "").strip()


__all__ = ["login"]
