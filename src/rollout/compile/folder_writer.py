"""Writes the files of an environment's folder all together or not at all."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from rollout.compile.folder_lock import HeldError, alone_in
from rollout.compile.folder_swap import exchange, move_one_by_one
from rollout.source.layout import known_names

_NEW = "environment"
_ASIDE = "before"
_PATIENCE_SECONDS = 60
_RANDOM = re.compile(r"[a-z0-9_]{8}")


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

    Whenever the program is ended, even by force, ``target`` holds the old environment or the new one. Where the
    system cannot let two folders change places (``target`` is a mount point or the current folder, or it is neither
    Linux nor macOS), there may be a moment with no environment file in ``target``, never one with a mix; ended just
    then, the old files are in the folder ``.NAME.*/before`` beside the new ones. What a run that was ended has left
    behind is taken away by the next one that comes to its end. Several that write the same folder go one after the
    other, each as though it had begun when the one before had ended.
    Raises WriteError when the folder is refused or the system does not let it be written.
    """
    try:
        _own_entries(target, replace=replace)
        home = Path(os.path.realpath(target)).parent
        home.mkdir(parents=True, exist_ok=True)
        with alone_in(home, patience_seconds=_PATIENCE_SECONDS):
            # Once more: who was in before may have written this very folder.
            _put_in_place(target, files, _own_entries(target, replace=replace), inspect)
    except HeldError:
        raise WriteError(
            f"“{target}” cannot be written: another program holds the folder that it is in.",
            "Wait for it to end, or end it, and say this again.",
        ) from None
    except OSError as error:
        raise WriteError(f"“{target}” cannot be written: {error.strerror or error}.") from error


def _put_in_place(
    target: Path, files: Mapping[str, str], occupied: list[str], inspect: Callable[[Path], None] | None
) -> None:
    if not (target.is_dir() and _swap_beside(target, files, occupied, inspect)):
        # In the folder itself where there is one: what lies beside it may be another file system.
        home = target if target.is_dir() else target.parent
        with _staged(home, target, files, inspect) as new:
            if home == target:
                move_one_by_one(target, new, occupied, new.with_name(_ASIDE))
            else:
                new.rename(target)
    for home in (target.parent, target):
        for left in _left_behind(home, target.name):
            shutil.rmtree(left, ignore_errors=True)


def _swap_beside(
    target: Path, files: Mapping[str, str], occupied: list[str], inspect: Callable[[Path], None] | None
) -> bool:
    """Lets the folder and a new one change places; False where that cannot be done."""
    real = target.resolve()
    if not occupied or not os.access(real.parent, os.W_OK):
        return False
    with _staged(real.parent, real, files, inspect) as new:
        return exchange(real, new, [*occupied, *(left.name for left in _left_behind(real, target.name))])


@contextmanager
def _staged(
    home: Path, target: Path, files: Mapping[str, str], inspect: Callable[[Path], None] | None
) -> Iterator[Path]:
    """A new folder of ``files`` in one of its own in ``home``, which is locked while it is in use."""
    import fcntl

    with tempfile.TemporaryDirectory(
        dir=home, prefix=_prefix(target.name), ignore_cleanup_errors=True
    ) as stage:
        lock = os.open(stage, os.O_RDONLY)
        try:
            with suppress(OSError):
                fcntl.flock(lock, fcntl.LOCK_EX)
            new = Path(stage, _NEW)
            _fill(new, files)
            if inspect is not None:
                inspect(new)
            yield new
        finally:
            os.close(lock)


def _prefix(name: str) -> str:
    return f".{name[:40]}."


def _left_behind(home: Path, name: str) -> Iterator[Path]:
    """The folders in ``home`` that runs that were ended have left there, and that no run is using."""
    import fcntl

    if not home.is_dir():
        return
    for entry in sorted(home.iterdir()):
        beginning, rest = entry.name[: len(_prefix(name))], entry.name[len(_prefix(name)) :]
        if beginning != _prefix(name) or not _RANDOM.fullmatch(rest):
            continue
        try:
            lock = os.open(entry, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if {each.name for each in entry.iterdir()} <= {_NEW, _ASIDE}:
                yield entry
        except OSError:
            continue
        finally:
            os.close(lock)


def write_file(path: Path, data: bytes, *, replace: bool = True) -> None:
    """Writes one file whole: a reader sees the old content or the new, never half. Folders above it are made.

    Raises WriteError when it cannot be written; without ``replace``, also when there is anything at ``path``, even
    what comes to be there while this is at work.
    """
    if not replace and os.path.lexists(path):
        raise _exists_already(path)
    if path.is_dir():
        raise WriteError(f"“{path}” is a folder.", "Name a file.")
    # A pipe, a terminal or /dev/null is written to; putting a file in its place would be no favour.
    if path.exists() and not path.is_file():
        with path.open("wb") as special:
            special.write(data)
        return
    path = Path(os.path.realpath(path))
    make_home(path)
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:40]}.")
    except OSError as error:
        raise WriteError(f"“{path}” cannot be written: {error.strerror or error}.") from error
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(name).chmod(path.stat().st_mode & 0o777 if path.exists() else 0o666 & ~_umask())
        if replace:
            Path(name).replace(path)
        else:
            _put_in_free_place(Path(name), path)
    except OSError as error:
        with suppress(OSError):
            Path(name).unlink()
        raise WriteError(f"“{path}” cannot be written: {error.strerror or error}.") from error


def make_home(path: Path) -> None:
    """Makes the folders above a file that is to be written. Raises WriteError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except FileExistsError:
        raise WriteError(f"“{path}” cannot be written: “{path.parent}” is no folder.") from None
    except OSError as error:
        raise WriteError(f"“{path}” cannot be written: {error.strerror or error}.") from error


def _put_in_free_place(file: Path, path: Path) -> None:
    try:
        os.link(file, path)
    except FileExistsError:
        file.unlink()
        raise _exists_already(path) from None
    except OSError:
        # No hard links here: another program may see the file before it is whole, but is never written over.
        try:
            with path.open("xb") as stream:
                stream.write(file.read_bytes())
        except FileExistsError:
            file.unlink()
            raise _exists_already(path) from None
    file.unlink()


def _exists_already(path: Path) -> WriteError:
    return WriteError(f"“{path}” exists already.", "Name a file that does not exist yet.")


def _own_entries(target: Path, *, replace: bool) -> list[str]:
    """The names in ``target`` that have to give way; raises WriteError where the folder is refused."""
    if target.is_symlink() and not target.exists():
        raise WriteError(f"“{target}” is a link that leads nowhere.", "Name another folder.")
    if target.exists() and not target.is_dir():
        raise WriteError(f"“{target}” is a file, not a folder.", "Name a folder that does not exist yet.")
    if not target.exists():
        return []
    left = {path.name for path in _left_behind(target, target.name)}
    held = sorted(entry.name for entry in target.iterdir() if entry.name not in left)
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


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask


__all__ = ["WriteError", "make_home", "write_file", "write_folder"]
