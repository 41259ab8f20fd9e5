"""The files of an environment's folder that an author's function is run among."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from rollout.source.file import read_regular

MOST_FILES = 500
LARGEST_FILE = 1024 * 1024
LARGEST = 16 * 1024 * 1024
_MOST_SEEN = 20_000
_SKIPPED = ("__pycache__", "node_modules", "venv", "site-packages")


class NoFunctionError(ValueError):
    """A file that is not there, or leads out of the folder; its text is a sentence."""


def author_files(folder: Path, needed: str) -> dict[str, str]:
    """The texts in ``folder`` by path: ``needed`` first, then the nearest ones, up to the bounds of this module.

    Hidden files, links, what is no UTF-8 and what is larger than a mebibyte are left out. Raises NoFunctionError when
    ``needed`` cannot be had.
    """
    root = folder.resolve()
    path = (root / needed).resolve()
    if not path.is_relative_to(root):
        raise NoFunctionError(f"“{needed}” is outside the environment's folder.")
    try:
        found = {path.relative_to(root).as_posix(): read_regular(path).decode("utf-8")}
    except FileNotFoundError:
        raise NoFunctionError(f"There is no file “{needed}” in the environment's folder.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise NoFunctionError(f"“{needed}” cannot be read: {error}.") from None
    size = 0
    for name, each in _nearest(root):
        if name in found or len(found) >= MOST_FILES:
            continue
        try:
            length = each.stat().st_size
            if length > LARGEST_FILE or size + length > LARGEST:
                continue
            found[name] = read_regular(each, max_bytes=LARGEST_FILE).decode("utf-8")
        except (OSError, UnicodeDecodeError):
            continue
        size += length
    return found


def _nearest(root: Path) -> Iterator[tuple[str, Path]]:
    """Files with their paths in ``root``, folder by folder from the top; no more than a bounded number is looked at."""
    folders, seen = [root], 0
    for folder in folders:
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            seen += 1
            if seen > _MOST_SEEN:
                return
            if entry.name.startswith(".") or entry.is_symlink():
                continue
            if entry.is_dir():
                if entry.name not in _SKIPPED:
                    folders.append(Path(entry.path))
            elif entry.is_file():
                yield Path(entry.path).relative_to(root).as_posix(), Path(entry.path)


__all__ = ["NoFunctionError", "author_files"]
