"""Serves the application over HTTP, by uvicorn; ends well when it is asked to.

What protects it against the network is here and in ``connections.py``: where it may listen, who has a key, and which
connections are held.
"""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import Connection

from rollout.platform.server.app import application
from rollout.platform.server.connections import SECONDS_TO_ASK, Held, protocol
from rollout.platform.server.runner import SECONDS_TO_DRAIN, Runner
from rollout.platform.store import Store, keys
from rollout.platform.store.keys import Scope

HOST, PORT = "127.0.0.1", 8321

_BACKLOG = 128


class ServeError(Exception):
    """A server that cannot be started; its text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


def database_in(folder: Path) -> str:
    """The address of the database that a folder of data has."""
    return f"sqlite:///{folder.absolute() / 'rollout.db'}"


def check_keys(store: Store, host: str) -> None:
    """Raises ServeError for a server that others would reach and nobody has a key of."""
    if not is_loopback(host) and not store.read(keys.are_there):
        raise ServeError(
            f"Others could reach the server at {host}, and there is no key yet that keeps them out.",
            "Make one first: rollout keys create NAME --scope admin",
        )


def first_key(store: Store, show: Callable[[str], None]) -> None:
    """Makes a key for the owner, where there is none yet, and shows it this once.

    It is shown before it is kept: whoever is killed between the two has seen a key that is none, and sees another at
    the next start, where one that was kept unseen would lock everybody out.
    """

    def make(connection: Connection) -> None:
        if not keys.are_there(connection):
            _, whole = keys.create(connection, "first", Scope.ADMIN)
            show(whole)

    store.write(make)


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches what listens there."""
    if host == "localhost":
        return True
    with suppress(ValueError):
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return False


def serve(store: Store, runner: Runner, *, host: str, port: int, began: Callable[[str], None]) -> None:
    """Serves until it is interrupted; ``began`` is told the address once it listens.

    Raises ServeError where uvicorn is not installed, or nobody can listen there.
    """
    try:
        import uvicorn
    except ImportError:
        raise ServeError(
            "uvicorn is not installed, so nothing can be served.",
            "Install it with rollout: pip install 'rolloutdev[server]', in a clone -e '.[server]'",
        ) from None
    listening = _listen(host, port)
    place = f"[{host}]" if ":" in host else host
    address = f"http://{place}:{listening.getsockname()[1]}"

    class Server(uvicorn.Server):
        async def startup(self, sockets: Any = None) -> None:
            self._on = asyncio.get_running_loop()
            await super().startup(sockets)
            if self.started:
                began(address)

        def handle_exit(self, sig: int, frame: Any) -> None:
            self._on.call_soon_threadsafe(runner.drain)
            super().handle_exit(sig, frame)

    config = uvicorn.Config(
        application(store, runner),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        http=protocol(Held()),
        backlog=_BACKLOG,
        timeout_keep_alive=int(SECONDS_TO_ASK),
        timeout_graceful_shutdown=int(SECONDS_TO_DRAIN),
    )
    with listening:
        Server(config).run(sockets=[listening])


def _listen(host: str, port: int) -> socket.socket:
    try:
        found = socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = found[0]
        made = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ServeError(
            f"“{host}” is no address to listen at: {error.strerror}.", "Write --host 127.0.0.1"
        ) from None
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind(address)
        made.listen(_BACKLOG)
    except OSError as error:
        made.close()
        raise ServeError(
            f"Nobody can listen at {host}, port {port}: {error.strerror}.",
            "Choose another with --port, 0 for a free one.",
        ) from None
    return made


__all__ = ["HOST", "PORT", "ServeError", "check_keys", "database_in", "first_key", "is_loopback", "serve"]
