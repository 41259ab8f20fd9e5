"""Lets the writers of the folders in one place go one after the other."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_PAUSE_SECONDS = 0.02


class HeldError(Exception):
    """Another process is in, and stays in."""


@contextmanager
def alone_in(home: Path, *, patience_seconds: float) -> Iterator[None]:
    """No other process is in here for the same folder ``home`` meanwhile; the system lets go for one that is killed.

    Where the system has no locks for ``home`` (some network file systems, a folder that may not be listed) nothing is
    waited for. Raises HeldError when another one is in for longer than ``patience_seconds``.
    """
    import fcntl

    try:
        lock = os.open(home, os.O_RDONLY | os.O_DIRECTORY)
    except PermissionError:
        yield
        return
    try:
        end = time.monotonic() + patience_seconds
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                if time.monotonic() > end:
                    raise HeldError from None
                time.sleep(_PAUSE_SECONDS)
            except OSError:
                break
            else:
                break
        yield
    finally:
        os.close(lock)


__all__ = ["HeldError", "alone_in"]
