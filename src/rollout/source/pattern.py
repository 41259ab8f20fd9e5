"""Finds what a pattern such as ``environments/**/*.toml`` stands for, without following links to folders."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from fnmatch import translate
from glob import has_magic
from pathlib import Path


def matches_of(
    pattern: Path,
    *,
    is_passed_by: Callable[[str], bool] = lambda name: False,
    not_followed: Callable[[Path], object] = lambda path: None,
) -> Iterator[Path]:
    """What there is at ``pattern``, in order; ``**`` stands for any number of folders.

    Names that start with a dot, or that ``is_passed_by``, match only where they are written out. A link to a folder
    matches no pattern of names, since it may lead anywhere and in circles; ``not_followed`` is told of each. Written
    out, it is followed.
    """
    parts = pattern.parts
    root = Path(pattern.anchor) if pattern.anchor else Path()
    steps = parts[1:] if pattern.anchor else parts
    yield from dict.fromkeys(_match(root, steps, is_passed_by, not_followed))


def _match(
    folder: Path,
    steps: tuple[str, ...],
    is_passed_by: Callable[[str], bool],
    not_followed: Callable[[Path], object],
) -> Iterator[Path]:
    if not steps:
        yield folder
        return
    step, rest = steps[0], steps[1:]
    if not has_magic(step):
        if os.path.lexists(folder / step):
            yield from _match(folder / step, rest, is_passed_by, not_followed)
        return
    deep = step == "**"
    if deep:
        yield from _match(folder, rest, is_passed_by, not_followed)
    fits = re.compile(translate(step)).match
    for entry in _entries(folder):
        if is_passed_by(entry.name) or (entry.name.startswith(".") and not step.startswith(".")):
            continue
        if not deep and not fits(entry.name):
            continue
        path = folder / entry.name
        if _is_folder(entry):
            if entry.is_symlink():
                not_followed(path)
            else:
                yield from _match(path, steps if deep else rest, is_passed_by, not_followed)
        elif not rest:
            yield path


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as items:
            return sorted(items, key=lambda item: item.name)
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir()
    except OSError:
        return False


__all__ = ["has_magic", "matches_of"]
