"""Which process does something, and whether it is gone: a process that was killed gives nothing back."""

from __future__ import annotations

import os
import socket
from hashlib import sha256
from pathlib import Path

from rollout.platform.store.ids import new_id


def host(proc: Path = Path("/proc")) -> str:
    """What those have in common who see the same processes by the same numbers: a boot of a machine, and a PID
    namespace there. Containers of one machine, and machines of one name, have others. Empty where it is not known."""
    try:
        boot = (proc / "sys" / "kernel" / "random" / "boot_id").read_text(encoding="ascii").strip()
        numbers = (proc / "self" / "ns" / "pid").readlink()
    except (OSError, ValueError):
        return ""
    return sha256(f"{socket.gethostname()} {boot} {numbers}".encode()).hexdigest()[:16]


_HOST = host()
_HERE = f"{socket.gethostname()[:12]} {_HOST} "
_ITSELF = new_id()[:8]


def this_process() -> str:
    """The name of this process, which no other has, on whatever machine."""
    return f"{_HERE}{os.getpid()} {_ITSELF}"


def is_gone(name: str) -> bool:
    """Whether that process is known to have ended; of one on another host nothing is known."""
    pid, _, itself = name.removeprefix(_HERE).partition(" ")
    if not _HOST or not name.startswith(_HERE) or not pid.isdigit():
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


__all__ = ["host", "is_gone", "this_process"]
