"""Notices that files changed while they were read, so that nobody gets half of the old and half of the new."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from rollout.source.find import SourceError
from rollout.source.layout import known_names
from rollout.source.listing import MAX_ENTRIES, is_litter

if TYPE_CHECKING:
    from rollout.source.document import Document

T = TypeVar("T")

TRIES = 6
"""How often a folder is read that changes meanwhile."""

_FIRST_PAUSE_SECONDS = 0.005

Mark = tuple[int, int, int, int]
"""What tells one content of a file from the next: device, inode, size and time of the last change."""


class ChangedError(SourceError):
    """Files changed while they were read."""

    def __init__(self, label: str) -> None:
        super().__init__(
            f"“{label}” changed while it was read, again and again.",
            "Say it again when nothing writes there.",
        )


def mark_of(status: os.stat_result) -> Mark:
    """The mark of what ``os.stat`` tells."""
    return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns


def look_at(path: Path) -> dict[str, Mark]:
    """The marks of all that an environment in the folder ``path``, or in the file, is read from."""
    found: dict[str, Mark] = {}
    folders: set[tuple[int, int]] = set()
    known = frozenset(known_names(None))

    def add(each: str, depth: int) -> None:
        try:
            status = os.stat(each)  # noqa: PTH116 — for ten thousand files, a Path for each is half the time
        except (OSError, ValueError):
            return
        found[each] = mark_of(status)
        if not stat.S_ISDIR(status.st_mode) or (status.st_dev, status.st_ino) in folders:
            return
        folders.add((status.st_dev, status.st_ino))
        try:
            names = os.listdir(each)  # noqa: PTH208
        except OSError:
            return
        if depth == 0:
            # What else lies there, such as the folder of a run that is going on, may change as it likes.
            del found[each]
            names = [name for name in names if name in known]
        for name in names:
            if len(found) > MAX_ENTRIES:
                return
            if not is_litter(name):
                add(f"{each}{os.sep}{name}", depth + 1)

    add(os.fspath(path), 0)
    return found


def read_settled(path: Path, label: str, read: Callable[[Mapping[str, Mark]], T]) -> T:
    """What ``read`` gives, which gets the marks of the files in ``path``; read anew when they changed meanwhile.

    Raises ChangedError when they never stay as they are for long enough.
    """
    before = look_at(path)
    for attempt in range(TRIES):
        found = read(before)
        after = look_at(path)
        if after == before:
            return found
        time.sleep(_FIRST_PAUSE_SECONDS * 2**attempt)
        before = look_at(path)
    raise ChangedError(label)


def settled(document: Document, use: Callable[[Document], T]) -> T:
    """What ``use`` makes of a document whose tasks are streamed; with the document read anew when they changed.

    Raises ChangedError as above.
    """
    for _ in range(TRIES):
        try:
            return use(document)
        except ChangedError:
            if document.again is None:
                raise
            document = document.again()
    raise ChangedError(document.label)


__all__ = ["TRIES", "ChangedError", "Mark", "look_at", "mark_of", "read_settled", "settled"]
