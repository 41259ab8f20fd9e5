"""The sandbox: where commands of an environment run, so that nothing they do reaches this machine.

:func:`run` lays files down in a private folder, runs one command line over them and tells what came of it. Whatever
the command writes is gone afterwards. Commands run under bubblewrap, or in a container of Docker or Podman; a plain
process is used only where somebody asked for ``none`` in so many words. Where nothing of this works, that is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from rollout.sandbox.witness import Witness

KINDS = ("auto", "bubblewrap", "docker", "podman", "none")
"""What can be asked for: by ``--sandbox``, or by the environment variable ROLLOUT_SANDBOX."""

VARIABLE = "ROLLOUT_SANDBOX"

Stopped = Literal["time", "memory", "processes", "output"]
"""Which limit a command was stopped at."""

_MIB = 1024 * 1024

_asked: ContextVar[str | None] = ContextVar("sandbox", default=None)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a command may use before it is stopped: ``seconds`` by the clock, bytes of ``memory`` over all its
    processes, how many ``processes``, and bytes of ``output``. A write that makes one ``file``, or all in one of its
    folders (``disk``), larger than so many bytes fails.
    """

    seconds: float = 60.0
    memory: int = 2048 * _MIB
    processes: int = 256
    output: int = 16 * _MIB
    file: int = 128 * _MIB
    disk: int = 256 * _MIB


@dataclass(frozen=True, slots=True)
class Job:
    """A command line for a shell, and the files that lie in its working folder when it starts."""

    command: str
    files: Mapping[str, str]
    variables: Mapping[str, str] = field(default_factory=dict)
    limits: Limits = field(default_factory=Limits)
    witness: Witness | None = None


@dataclass(frozen=True, slots=True)
class Ended:
    """What came of a command: its exit status (None when it was stopped at a limit), and what it printed, cut in the
    middle where it was long. ``report`` is what a witness wrote, as it came.
    """

    status: int | None
    output: str
    stopped: Stopped | None = None
    report: bytes = b""
    seconds: float = field(default=0.0, compare=False)


class SandboxError(Exception):
    """A command that could not be run at all; its text is a sentence. Charged to the infrastructure."""


@contextmanager
def chosen(kind: str | None) -> Iterator[None]:
    """Uses the sandbox of this kind inside the block; None leaves the choice as it is."""
    if kind is None:
        yield
        return
    token = _asked.set(kind)
    try:
        yield
    finally:
        _asked.reset(token)


def asked_for() -> str:
    """The kind that was asked for, ``auto`` unless there was. Raises SandboxError for one that there is not."""
    kind = _asked.get() or os.environ.get(VARIABLE) or "auto"
    if kind not in KINDS:
        raise SandboxError(f"There is no sandbox “{kind}”; the kinds are {', '.join(KINDS)}.")
    return kind


async def run(job: Job) -> Ended:
    """Runs a job in the sandbox that was asked for.

    The event loop stays free, and no more jobs run at once than this machine has processors, so that none is late for
    another's sake. When it is cancelled, the command and all that it started are killed. Raises SandboxError.
    """
    from rollout.sandbox.choice import find
    from rollout.sandbox.launch import launch

    kind = asked_for()
    return await launch(job, await find(kind))


__all__ = [
    "KINDS",
    "VARIABLE",
    "Ended",
    "Job",
    "Limits",
    "SandboxError",
    "Stopped",
    "asked_for",
    "chosen",
    "run",
]
