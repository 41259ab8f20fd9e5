"""How much memory the processes of a command use, and how many there are, as Linux's /proc tells."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_PROC = Path("/proc")


@dataclass(frozen=True, slots=True)
class Usage:
    """``memory`` in bytes, and the number of processes."""

    memory: int = 0
    processes: int = 0


def measure(root: int, *, in_namespace: bool, exactly: bool = False) -> Usage:
    """What the process ``root`` and those under it use; with ``in_namespace`` it is the first of its process namespace.

    A page that several processes share counts for each of them; ``exactly`` shares it out, which takes longer. What
    has ended meanwhile counts nothing.
    """
    members = list(_namespace(root)) if in_namespace else []
    members = members or [_PROC / str(pid) for pid in _descendants(root)]
    of_one = _proportional if exactly else _resident
    return Usage(sum(map(of_one, members)), len(members))


def _namespace(root: int) -> Iterator[Path]:
    # The sandbox has a /proc of its own, in which nobody else's processes are.
    try:
        yield from (entry for entry in Path(f"/proc/{root}/root/proc").iterdir() if entry.name.isdigit())
    except OSError:
        return


def _descendants(root: int) -> list[int]:
    children: dict[int, list[int]] = {}
    for entry in _PROC.iterdir():
        if entry.name.isdigit():
            try:
                # The name, in brackets, may hold anything; the parent is the second field after it.
                fields = (entry / "stat").read_bytes().rpartition(b")")[2].split()
                children.setdefault(int(fields[1]), []).append(int(entry.name))
            except (OSError, IndexError):
                continue
    found = [root]
    for pid in found:
        found.extend(children.get(pid, ()))
    return found


def _resident(process: Path) -> int:
    try:
        pages = int((process / "statm").read_bytes().split()[1])
    except (OSError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def _proportional(process: Path) -> int:
    try:
        for line in (process / "smaps_rollup").read_bytes().splitlines():
            if line.startswith(b"Pss:"):
                return int(line.split()[1]) * 1024
    except (OSError, IndexError, ValueError):
        return _resident(process)
    return 0


__all__ = ["Usage", "measure"]
