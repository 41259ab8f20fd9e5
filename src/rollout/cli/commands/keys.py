"""`rollout keys`: the keys of a server of one's own, on the machine that has its data."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rollout.cli.store import Data, Database

if TYPE_CHECKING:
    from rollout.platform.store.keys import Key


class KeyScope(StrEnum):
    """What a key is good for."""

    READ = "read"
    WRITE = "write"
    ADMIN = "admin"


_SHOWN = 8
"""So many characters of an id are shown, and name the key."""

AsJson = Annotated[bool, typer.Option("--json", help="One JSON envelope on stdout.")]

keys = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Make, list and revoke the keys of `rollout serve`.\n\n"
    "They work on its database, so whoever can read that needs no key.\n\n"
    "Example: `rollout keys create ci --scope write`",
)


@keys.command()
def create(
    name: Annotated[str, typer.Argument(metavar="NAME", help="Whose it is, or what for.")],
    scope: Annotated[
        KeyScope,
        typer.Option(
            help="read: look. write: also push and run. admin: also keys and figures of the server."
        ),
    ] = KeyScope.WRITE,
    rate: Annotated[
        int | None, typer.Option(metavar="N", min=1, help="How many requests a minute it may make.")
    ] = None,
    database: Database = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Make a key. It is shown this once, and kept as a hash.

    Example: `rollout keys create ci --scope write`
    """
    from rollout.cli.output import fail, note, show, show_json, visible
    from rollout.cli.store import open_store
    from rollout.platform.server.keys import LONGEST_NAME
    from rollout.platform.store import keys as stored

    name = name.strip()
    if not 0 < len(name) <= LONGEST_NAME:
        fail(f"A key has a name of 1 to {LONGEST_NAME} characters.", "Say whose it is, or what for.")
    store = open_store(database, data)
    try:
        key, whole = store.write(stored.create, name, stored.Scope(scope), rate=rate)
    finally:
        store.close()
    if as_json:
        show_json("keys create", {**_shown(key), "key": whole})
        return
    show(whole)
    note(f"The key of “{visible(name)}” may {key.scope}. It is not shown again.")


@keys.command(name="list")
def list_(database: Database = None, data: Data = None, as_json: AsJson = False) -> None:
    """List all keys, the newest first, without what is secret of them.

    Example: `rollout keys list`
    """
    from rollout.cli.output import note, show, show_json, visible
    from rollout.cli.store import open_store
    from rollout.platform.store import keys as stored

    store = open_store(database, data)
    try:
        found = store.read(stored.list_all)
    finally:
        store.close()
    if as_json:
        show_json("keys list", [_shown(key) for key in found])
        return
    if not found:
        note("There are no keys. Make one: rollout keys create NAME")
    for key in found:
        shown = _shown(key)
        last = f"revoked {shown['revokedAt'][:10]}" if shown["revokedAt"] else "never used"
        if shown["usedAt"] and not shown["revokedAt"]:
            last = f"last used {shown['usedAt'][:10]}"
        show(f"{key.id[:_SHOWN]}  {key.prefix}…  {key.scope:<5}  {last:<20}  {visible(key.name)}")


@keys.command()
def revoke(
    key: Annotated[
        str, typer.Argument(metavar="KEY", help="Its id as `rollout keys list` shows it, or its name.")
    ],
    database: Database = None,
    data: Data = None,
    as_json: AsJson = False,
) -> None:
    """Make a key useless, within two seconds on a server that runs.

    Example: `rollout keys revoke 3f2a91c0`
    """
    from rollout.cli.output import fail, note, show_json, visible
    from rollout.cli.store import open_store
    from rollout.platform.store import keys as stored

    store = open_store(database, data)
    try:
        found = [
            each
            for each in store.read(stored.list_all)
            if each.revoked_at is None and key in (each.id, each.id[:_SHOWN], each.name)
        ]
        if len(found) != 1:
            how = "Several keys are" if found else "No key is"
            fail(f"{how} called “{key}”.", "`rollout keys list` shows their ids.")
        revoked = store.write(stored.revoke, found[0].id)
    finally:
        store.close()
    assert revoked is not None
    if as_json:
        show_json("keys revoke", _shown(revoked))
        return
    note(f"The key of “{visible(revoked.name)}” is revoked.")


def _shown(key: Key) -> dict[str, Any]:
    from rollout.platform.server.keys import shown

    return shown(key)


__all__ = ["keys"]
