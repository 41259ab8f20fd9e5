"""The store that a command of the server's owner works on."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from rollout.platform.store import Store

Database = Annotated[
    str | None,
    typer.Option(
        metavar="URL",
        envvar="ROLLOUT_DATABASE",
        help="postgresql+psycopg://… or sqlite:///…; else rollout.db in the folder of data.",
    ),
]
Data = Annotated[
    str | None,
    typer.Option(metavar="DIR", help="The folder of data; else that of `local`, which ROLLOUT_DATA names."),
]


def open_store(database: str | None, data: str | None) -> Store:
    """Opens the store. Ends the command with a sentence where that cannot be."""
    from rollout.cli.output import Exit, fail
    from rollout.platform.local import data_folder
    from rollout.platform.server.serving import database_in
    from rollout.platform.store import Store, StoreError

    if database and data:
        fail("--database and --data name two places.", "Leave out one of them.")
    try:
        return Store(database or database_in(Path(data) if data else data_folder()))
    except StoreError as error:
        fail(str(error), error.hint, code=Exit.PLATFORM)


__all__ = ["Data", "Database", "open_store"]
