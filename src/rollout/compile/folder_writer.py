"""Writes the files of an environment's folder all together or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

from rollout.source.layout import known_names


class WriteError(Exception):
    """A folder or file that cannot be written; ``hint`` is the way out."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.hint = hint


def write_folder(
    target: Path,
    files: Mapping[str, str],
    *,
    replace: bool = False,
    inspect: Callable[[Path], None] | None = None,
) -> None:
    """Writes ``files`` (relative posix path → text) into the folder ``target``, which is made when it is missing.

    Everything is written beside ``target`` first and moved into place when it is whole; ``inspect`` may look at it
    before, and raise. A folder that holds anything is refused; with ``replace`` what it holds of an environment
    (environment files, ``fixtures/`` and the like) gives way, and everything else in it is left alone.
    Raises WriteError when the folder is refused or the system does not let it be written.
    """
    try:
        occupied = _own_entries(target, replace=replace)
        # In the folder itself where there is one: what lies beside it may be another file system.
        home = target if target.is_dir() else target.parent
        home.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=home, prefix=f".{target.name[:40]}.") as stage:
            new = Path(stage, target.name or "environment")
            _fill(new, files)
            if inspect is not None:
                inspect(new)
            if target.is_dir():
                _swap(target, new, occupied, Path(stage, "before"))
            else:
                new.rename(target)
    except OSError as error:
        raise WriteError(f"“{target}” cannot be written: {error.strerror or error}.") from error


def write_file(path: Path, data: bytes) -> None:
    """Writes one file whole: a reader sees the old content or the new, never half. Raises WriteError."""
    if path.is_dir():
        raise WriteError(f"“{path}” is a folder.", "Name a file.")
    # A pipe, a terminal or /dev/null is written to; putting a file in its place would be no favour.
    if path.exists() and not path.is_file():
        with path.open("wb") as special:
            special.write(data)
        return
    path = Path(os.path.realpath(path))
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    except OSError as error:
        raise WriteError(f"“{path}” cannot be written: {error.strerror or error}.") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        Path(name).replace(path)
    except OSError as error:
        with suppress(OSError):
            Path(name).unlink()
        raise WriteError(f"“{path}” cannot be written: {error.strerror or error}.") from error


def _own_entries(target: Path, *, replace: bool) -> list[str]:
    """The names in ``target`` that have to give way; raises WriteError where the folder is refused."""
    if target.is_symlink() and not target.exists():
        raise WriteError(f"“{target}” is a link that leads nowhere.", "Name another folder.")
    if target.exists() and not target.is_dir():
        raise WriteError(f"“{target}” is a file, not a folder.", "Name a folder that does not exist yet.")
    if not target.exists():
        return []
    held = sorted(entry.name for entry in target.iterdir())
    if held and not replace:
        shown = ", ".join(f"“{name}”" for name in held[:3]) + (" and more" if len(held) > 3 else "")
        raise WriteError(
            f"“{target}” is not empty: it holds {shown}.", "Name a folder that does not exist yet."
        )
    own = set(known_names(None))
    return [name for name in held if name in own]


def _fill(folder: Path, files: Mapping[str, str]) -> None:
    folder.mkdir(mode=0o777)
    root = folder.resolve()
    for path, text in files.items():
        file = folder / path
        if not file.resolve().is_relative_to(root):
            raise WriteError(f"“{path}” does not stay in the folder.")
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("x", encoding="utf-8", newline="") as stream:
            stream.write(text)


def _swap(target: Path, new: Path, occupied: list[str], aside: Path) -> None:
    aside.mkdir()
    moved_out: list[str] = []
    moved_in: list[str] = []
    try:
        for name in occupied:
            (target / name).rename(aside / name)
            moved_out.append(name)
        for name in sorted(entry.name for entry in new.iterdir()):
            (new / name).rename(target / name)
            moved_in.append(name)
    except OSError:
        for name in moved_in:
            (target / name).rename(new / name)
        for name in moved_out:
            (aside / name).rename(target / name)
        raise
    shutil.rmtree(aside, ignore_errors=True)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


__all__ = ["WriteError", "write_file", "write_folder"]
