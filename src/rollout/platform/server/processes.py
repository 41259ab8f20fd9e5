"""Which process does something, and whether it is gone: a process that was killed gives nothing back."""

from __future__ import annotations

import os
import socket

from rollout.platform.store.ids import new_id

_HERE = f"{socket.gethostname()[:24]} "
_ITSELF = new_id()[:8]


def this_process() -> str:
    """The name of this process, which no other has, on whatever machine."""
    return f"{_HERE}{os.getpid()} {_ITSELF}"


def is_gone(name: str) -> bool:
    """Whether that process is known to have ended; of one on another machine nothing is known."""
    pid, _, itself = name.removeprefix(_HERE).partition(" ")
    if not name.startswith(_HERE) or not pid.isdigit():
        return False
    if int(pid) == os.getpid():
        # In a container every server may have the same number.
        return itself.partition(" ")[0] != _ITSELF
    try:
        os.kill(int(pid), 0)
    except ProcessLookupError:
        return True
    except (OSError, OverflowError):
        return False
    return False


__all__ = ["is_gone", "this_process"]
