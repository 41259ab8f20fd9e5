"""How commands ask the platform: which endpoint, with which key, and what is said where that comes to nothing."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

if TYPE_CHECKING:
    from rollout.platform.client import Client
    from rollout.platform.errors import RolloutError
    from rollout.platform.results import Run, Whoami
    from rollout.settings import Settings

Where = Annotated[
    str | None,
    typer.Option(
        "--endpoint",
        metavar="NAME",
        help="local, or a platform's address; else ROLLOUT_ENDPOINT, rollout.toml, or what login chose.",
        show_default=False,
    ),
]


@contextmanager
def asking(endpoint: str | None) -> Iterator[Client]:
    """A client of the platform that the command is to ask. What it is refused ends the command with a sentence."""
    from rollout.cli.output import Exit, fail
    from rollout.platform.credentials import CredentialsError
    from rollout.platform.endpoints import EndpointError, choose
    from rollout.platform.errors import RolloutError

    settings = settings_for(endpoint)
    check_named(endpoint)
    try:
        chosen = choose(endpoint, settings=settings)
    except (EndpointError, CredentialsError) as error:
        fail(str(error), error.hint, code=Exit.PLATFORM)
    from rollout.platform.client import Client

    try:
        with Client(endpoint=chosen) as client:
            yield client
    except RolloutError as error:
        refuse(error)


def refuse(error: RolloutError) -> NoReturn:
    """Ends the command with what the platform said."""
    from rollout.cli.output import Exit, fail

    fail(error.message, error.hint, code=Exit.PLATFORM)


def settings_for(endpoint: str | None) -> Settings:
    """The settings of the project, where they have a say in which endpoint is asked."""
    from rollout.cli.inputs import project_settings
    from rollout.platform.endpoints import VARIABLE
    from rollout.settings import Settings

    if endpoint is not None or os.environ.get(VARIABLE, "").strip():
        return Settings()
    return project_settings()


def check_named(endpoint: str | None) -> None:
    """Ends the command where ``--endpoint`` names none."""
    from rollout.cli.output import fail
    from rollout.platform.endpoints import EndpointError, normal

    if endpoint is not None:
        try:
            normal(endpoint)
        except EndpointError as error:
            fail(str(error), error.hint)


def who(client: Client) -> Whoami | None:
    """Whose the key is; None where the endpoint takes it and does not say. Raises RolloutError."""
    from rollout.platform.errors import RolloutError

    try:
        return client.whoami()
    except RolloutError as error:
        if client.answers_more or error.status not in (200, 404, 405):
            raise
    client.list_environments()
    return None


def find_run(client: Client, start: str) -> Run | None:
    """The run whose id begins so, where an endpoint takes whole ids only. None where there is none."""
    from rollout.cli.output import Exit, fail
    from rollout.platform.errors import RolloutError

    try:
        return client.get_run(start)["run"]  # type: ignore[no-any-return]
    except RolloutError as error:
        if error.status not in (400, 404):
            raise
        # Ours says by itself that there is none, or that there are several.
        if client.answers_more:
            if "Several" in error.message:
                raise
            return None
    found = [run for run in client.list_runs(1_000_000) if run["id"].startswith(start)]
    if len(found) > 1:
        some = ", ".join(run["id"][:12] for run in found[:3])
        fail(f"Several ids of a run begin with “{start}”: {some} …", "Give more of it.", code=Exit.PLATFORM)
    return found[0] if found else None


def the_run(client: Client, start: str) -> Run:
    """The run whose id begins so. Ends the command where there is none."""
    from rollout.cli.output import Exit, fail

    run = find_run(client, start)
    if run is None:
        fail(f"There is no run “{start}”.", "“rollout runs” lists the newest.", code=Exit.PLATFORM)
    return run


def is_attended() -> bool:
    """Whether somebody sits there who can be asked."""
    return not os.environ.get("CI") and sys.stdin is not None and sys.stdin.isatty() and sys.stderr.isatty()


__all__ = [
    "Where",
    "asking",
    "check_named",
    "find_run",
    "is_attended",
    "refuse",
    "settings_for",
    "the_run",
    "who",
]
