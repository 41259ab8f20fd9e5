"""Puts a new environment in the place of an old one, so that a reader meets the one or the other, never a mix."""

from __future__ import annotations

import errno
import os
import shutil
import sys
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path

from rollout.source.layout import ENVIRONMENT_FILES

_AT_CURRENT = -100
_EXCHANGE = 2
# Where folders cannot change places: other systems, mount points, file systems without hard links.
_NOT_HERE = (OSError, AttributeError, NotImplementedError)


def exchange(target: Path, new: Path, own: Iterable[str]) -> bool:
    """Lets the folders ``target`` and ``new`` change places in one step; False, and nothing done, where none can be.

    What is in ``target`` beside its ``own`` entries is in ``new`` as well before, as the same files under a second
    name. Afterwards the old environment is at ``new``.
    """
    if Path.cwd().is_relative_to(target.resolve()):
        return False  # Whoever works in the folder would find themselves in one that is deleted.
    old = set(own)
    try:
        rest = [entry.name for entry in os.scandir(target) if entry.name not in old]
        for name in rest:
            _give_second_name(target / name, new / name)
        shutil.copystat(target, new)
        _change_places(target.resolve(), new.resolve())
    except _NOT_HERE:
        return False
    for name in rest:
        _bring_over(new / name, target / name)
    return True


def move_one_by_one(target: Path, new: Path, own: Iterable[str], aside: Path) -> None:
    """Moves the ``own`` entries of ``target`` ``aside``, and those of ``new`` in.

    The environment file goes first and comes last: in between, the folder holds no environment, and says so.
    Raises OSError when an entry cannot be moved, or would be moved over another; all that were moved are back then.
    """
    aside.mkdir()
    moves = [(target / name, aside / name) for name in sorted(own, key=_last)][::-1]
    moves += [
        (new / name, target / name) for name in sorted((each.name for each in new.iterdir()), key=_last)
    ]
    done: list[tuple[Path, Path]] = []
    try:
        for there, here in moves:
            if os.path.lexists(here):
                raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
            there.rename(here)
            done.append((there, here))
    except OSError:
        for there, here in reversed(done):
            here.rename(there)
        raise


def _last(name: str) -> tuple[bool, str]:
    return name in ENVIRONMENT_FILES, name


def _give_second_name(there: Path, here: Path) -> None:
    if here.exists() or here.is_symlink():
        raise OSError(errno.EEXIST, os.strerror(errno.EEXIST))
    if there.is_symlink():
        here.symlink_to(there.readlink())
    elif there.is_dir():
        here.mkdir()
        for entry in os.scandir(there):
            _give_second_name(there / entry.name, here / entry.name)
        shutil.copystat(there, here)
    else:
        os.link(there, here)


def _bring_over(there: Path, here: Path) -> None:
    """What was written at ``there`` after it got its second name ``here``, such as by an editor."""
    with suppress(OSError):
        if not os.path.lexists(here):
            there.rename(here)
            return
        if there.is_symlink() or not there.is_dir():
            if not here.is_symlink() and here.exists() and there.stat().st_ino == here.stat().st_ino:
                return
            if not there.is_symlink():
                there.replace(here)
            return
        for entry in os.scandir(there):
            _bring_over(there / entry.name, here / entry.name)


def _change_places(one: Path, other: Path) -> None:
    import ctypes

    library = ctypes.CDLL(None, use_errno=True)
    names = os.fsencode(one), os.fsencode(other)
    call: Callable[..., int]
    if sys.platform == "darwin":
        call, arguments = library.renamex_np, (*names, _EXCHANGE)
    else:
        call = library.renameat2
        arguments = (_AT_CURRENT, names[0], _AT_CURRENT, names[1], _EXCHANGE)
    if call(*arguments):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


__all__ = ["exchange", "move_one_by_one"]
