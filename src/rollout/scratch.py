"""Temporary folders: all of a process lie in one, which it holds locked, so that what a killed one left is told apart.

Whoever makes the first of its own removes those that nobody holds any more.
"""

from __future__ import annotations

import atexit
import os
from contextlib import suppress
from pathlib import Path
from shutil import rmtree
from tempfile import TemporaryDirectory, gettempdir, mkdtemp
from threading import Lock

_PREFIX = "rollout-"
_HELD = "held"
_TRIES = 3

_guard = Lock()
_home: _Home | None = None


def scratch(purpose: str) -> TemporaryDirectory[str]:
    """A folder that is gone when its ``with`` ends, or once its process has been killed and another needs one.

    Raises OSError where there is no place for temporary files.
    """
    return TemporaryDirectory(prefix=f"{purpose}-", dir=_process_home(), ignore_cleanup_errors=True)


class _Home:
    """The folder of one process, locked for as long as the process lives."""

    def __init__(self) -> None:
        self.process = os.getpid()
        self.path = Path(mkdtemp(prefix=_PREFIX))
        self.lock = _lock(self.path / _HELD, os.O_CREAT)

    def is_ours(self) -> bool:
        return self.process == os.getpid() and self.path.is_dir()


def _process_home() -> Path:
    global _home
    with _guard:
        if _home is None or not _home.is_ours():
            if _home is None:
                _sweep()
                atexit.register(_leave)
            # Another process may take it for one that nobody holds. Where there are no locks, nobody takes any.
            homes = (_Home() for _ in range(_TRIES))
            _home = next((home for home in homes if home.lock is not None), None) or _Home()
        return _home.path


def _sweep() -> None:
    """Removes the folders of processes that are gone. What belongs to another user, or is in use, is left."""
    for folder in Path(gettempdir()).glob(f"{_PREFIX}*"):
        if folder.is_symlink() or not folder.is_dir():
            continue
        lock = _lock(folder / _HELD, 0)
        if lock is None:
            continue
        try:
            if folder.stat().st_uid == os.getuid():
                rmtree(folder, ignore_errors=True)
        except OSError:
            continue
        finally:
            os.close(lock)


def _lock(path: Path, flags: int) -> int | None:
    """The open lock at ``path``, None where there is none or another holds it."""
    import fcntl

    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | flags, 0o600)
    except OSError:
        return None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(descriptor).st_nlink:
            return descriptor
    except OSError:
        pass
    os.close(descriptor)
    return None


def _leave() -> None:
    with suppress(OSError):
        if _home is not None and _home.is_ours():
            rmtree(_home.path, ignore_errors=True)


__all__ = ["scratch"]
