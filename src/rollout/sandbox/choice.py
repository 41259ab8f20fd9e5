"""Which sandbox there is on this machine: each kind is tried once, with a command that does nothing."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from rollout.sandbox import Limits, SandboxError
from rollout.sandbox.folder import Folder


@dataclass(frozen=True, slots=True)
class Start:
    """How a command is started: the arguments, and file descriptors that are handed on.

    ``status_fd`` is where the sandbox says who runs and how that ended, ``go_fd`` what it waits for before it begins.
    ``name`` is what a container is called.
    """

    arguments: Sequence[str]
    hand_on: Sequence[int] = ()
    variables: dict[str, str] | None = None
    folder: str | None = None
    status_fd: int | None = None
    go_fd: int | None = None
    name: str | None = None


class Kind(Protocol):
    """A way to run commands."""

    @property
    def name(self) -> str:
        """What it is called."""

    def start(self, folder: Folder, command: str, variables: dict[str, str], limits: Limits) -> Start:
        """How to start ``command`` over the files in ``folder``."""

    async def end(self, start: Start) -> None:
        """Ends what is still running when the process that was started has been killed."""


class NoSandboxError(SandboxError):
    """No kind that was to be tried works here; ``found`` is a sentence that says why, without the way out."""

    def __init__(self, found: str) -> None:
        super().__init__(
            f"{found} Install bubblewrap. Commands of your own run without any protection by --sandbox none."
        )
        self.found = found


_found: dict[str, Kind] = {}


async def find(kind: str) -> Kind:
    """The sandbox of this kind, or the first that works for ``auto``. Raises SandboxError with what was tried."""
    if (known := _found.get(kind)) is not None:
        return known
    from rollout.sandbox import bare, bubblewrap, container

    if kind == "none":
        return bare.Bare()
    tried: list[str] = []
    if kind in ("auto", "bubblewrap"):
        program = shutil.which("bwrap")
        if program is None:
            tried.append("bubblewrap (the program bwrap) is not installed")
        ways = list(bubblewrap.candidates(program)) if program is not None else []
        if program is not None and not ways:
            tried.append("bubblewrap needs the program setpriv (of util-linux) when root runs it")
        for candidate in ways:
            why = await _try(candidate.probe())
            if why is None:
                return _found.setdefault(kind, candidate)
            tried.append(f"bubblewrap does not work here ({why})")
    for name in ("docker", "podman"):
        if kind not in ("auto", name):
            continue
        program = shutil.which(name)
        if program is None:
            tried.append(f"{name} is not installed")
            continue
        found, why = await container.find(name, program, _try)
        if found is not None:
            return _found.setdefault(kind, found)
        tried.append(why)
    raise NoSandboxError(f"There is no sandbox to run commands in: {'; '.join(tried)}.")


async def _try(arguments: Sequence[str], seconds: float = 20.0) -> str | None:
    """Why a command that does nothing did not end well, or None when it did."""
    process = await asyncio.create_subprocess_exec(
        *arguments,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    try:
        _, words = await asyncio.wait_for(process.communicate(), seconds)
    except TimeoutError:
        return f"nothing happened for {seconds:g} seconds"
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    if process.returncode == 0:
        return None
    return words.decode("utf-8", "replace").strip().partition("\n")[0] or f"exit status {process.returncode}"


__all__ = ["Kind", "NoSandboxError", "Start", "find"]
