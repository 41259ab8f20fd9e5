"""A PostgreSQL of Debian's, in a folder of its own, which can be stopped and started again."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
from itertools import count
from pathlib import Path

_USER = "postgres"


def _programs() -> Path:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pg_ctl"), key=lambda path: int(path.parts[-3]))
    if found:
        return found[-1].parent
    on_path = shutil.which("pg_ctl")
    assert on_path, "PostgreSQL is not installed; scripts/test installs it."
    return Path(on_path).parent


class Postgres:
    """A server that listens on 127.0.0.1 and trusts whoever asks. ``url`` gives a new, empty database each time."""

    def __init__(self) -> None:
        self._names = count()
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port: int = free.getsockname()[1]

    def __enter__(self) -> Postgres:
        # PostgreSQL refuses to run as root, and pytest's own folders are closed to everybody else.
        self._folder = Path(tempfile.mkdtemp(prefix="postgres-"))
        if os.geteuid() == 0:
            shutil.chown(self._folder, _USER)
        self._data = self._folder / "data"
        self._do("initdb", "-D", str(self._data), "-A", "trust", "-U", _USER, "--no-sync", "-E", "UTF8")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def url(self) -> str:
        """The address of a new database."""
        name = f"rollout_{next(self._names)}"
        self._do("createdb", "-h", "127.0.0.1", "-p", str(self.port), "-U", _USER, name)
        return f"postgresql+psycopg://{_USER}@127.0.0.1:{self.port}/{name}"

    def start(self) -> None:
        """Starts it, and waits until it answers."""
        options = f"-p {self.port} -c listen_addresses=127.0.0.1 -c unix_socket_directories='' -c fsync=off"
        self._do(
            "pg_ctl", "-D", str(self._data), "-l", str(self._folder / "log"), "-w", "-o", options, "start"
        )

    def stop(self) -> None:
        """Stops it at once, and breaks off all connections."""
        self._do("pg_ctl", "-D", str(self._data), "-m", "immediate", "-w", "stop")

    def _do(self, program: str, *arguments: str) -> None:
        command = [str(_programs() / program), *arguments]
        if os.geteuid() == 0:
            command = ["runuser", "-u", _USER, "--", *command]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            check=False,
            cwd="/",
        )
        assert done.returncode == 0, f"{program} failed"
