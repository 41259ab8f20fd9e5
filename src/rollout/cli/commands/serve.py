"""`rollout serve`: a platform of one's own."""

from __future__ import annotations

from typing import Annotated

import typer

from rollout.cli.store import Data, Database


def serve(
    host: Annotated[
        str, typer.Option(metavar="HOST", help="Where to listen. Wider than this machine only with keys.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(metavar="PORT", min=0, max=65535, help="0 for a free one.")] = 8321,
    database: Database = None,
    data: Data = None,
    executor: Annotated[
        str, typer.Option(metavar="NAME[:ADDRESS]", help="Where rollouts are done: local, or ray[:ADDRESS].")
    ] = "local",
    runs_at_once: Annotated[
        int,
        typer.Option(
            "--runs-at-once", metavar="N", min=1, max=64, help="How many runs are executed at once."
        ),
    ] = 4,
    sandbox: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="How commands of environments are confined: auto, bubblewrap, docker or podman.",
        ),
    ] = None,
) -> None:
    """Serve a platform: environments, runs and their pages.

    It answers the same calls as the hosted platform, so every command works against it with `--endpoint
    http://127.0.0.1:8321`. What it keeps is in SQLite, or in PostgreSQL with --database. Models are asked from here,
    with the keys in this process's environment and the servers in this folder's rollout.toml.

    Commands of environments are those of whoever has a key, so they are always confined: none, by --sandbox or by
    ROLLOUT_SANDBOX, is refused.

    The first start makes a key and shows it once; `rollout keys` makes others. Without https, which a proxy in front of
    it brings, it is for this machine and networks that you trust.

    Example: `rollout serve --port 8321`

    Exit code 0: it was ended with Ctrl-C. 2: wrong usage. 3: nobody can listen there, or the database does not answer.
    """
    from contextlib import suppress

    from rollout.cli.inputs import project_settings
    from rollout.cli.output import Exit, fail, note
    from rollout.cli.running import fail_without_executor
    from rollout.cli.store import open_store
    from rollout.engine.executors import ExecutorError
    from rollout.platform.server.runner import Runner
    from rollout.platform.server.serving import ServeError, check_keys, first_key
    from rollout.platform.server.serving import serve as serve_it
    from rollout.platform.store import StoreError

    settings = project_settings()
    _check_sandbox(sandbox, executor)
    store = open_store(database, data)
    try:
        runner = Runner(store, settings=settings, executor=executor, at_once=runs_at_once, sandbox=sandbox)
        check_keys(store, host)

        def began(address: str) -> None:
            def show_key(whole: str) -> None:
                note(f"The first key, which is shown this once:\n  {whole}")
                note(f"Save it with: rollout login --endpoint {address}")

            note(f"Serving at {address}. End it with Ctrl-C.")
            first_key(store, show_key)

        with suppress(KeyboardInterrupt):
            serve_it(store, runner, host=host, port=port, began=began)
    except ExecutorError as error:
        store.close()
        fail_without_executor(error)
    except (ServeError, StoreError) as error:
        store.close()
        fail(str(error), error.hint, code=Exit.PLATFORM)


def _check_sandbox(asked: str | None, executor: str) -> None:
    """Ends the command where commands would not be confined, or not in the way that was asked for."""
    import asyncio

    from rollout.cli.output import fail
    from rollout.platform.server.confinement import confined, confines
    from rollout.sandbox import SandboxError

    try:
        kind = confined(asked)
    except SandboxError as error:
        fail(str(error), "Write --sandbox auto; for bubblewrap: apt-get install bubblewrap")
    try:
        # A cluster has its sandboxes on its own machines.
        if executor == "local":
            asyncio.run(confines(kind))
    except SandboxError as error:
        fail(str(error), "Write --sandbox auto, which takes what there is.")


__all__ = ["serve"]
