"""Which names from a payload may become names of files: only those that every system keeps, and keeps apart.

A payload may come from anywhere, so a name is held to be hostile until it is shown to be plain: it must stay in the
folder, mean the same on Linux, macOS and Windows, and be one that the folder's reader does not leave out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from unicodedata import normalize

from rollout.source.listing import is_never_content, is_skipped

_UNFIT = re.compile(r'[\x00-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff<>:"|?*\\]')
_DEVICES = re.compile(r"(?:con|prn|aux|nul|com\d|lpt\d)(?:\..*)?", re.IGNORECASE)
_LONGEST_PART = 120
_LONGEST_PATH = 400
_MOST_FILES = 4_000
_STEM = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_-]{0,98}[A-Za-z0-9_])?", re.ASCII)


def can_be_stem(name: str) -> bool:
    """Whether ``name`` can be a file's name before its suffix, as in ``fixtures/NAME.yaml``."""
    return bool(_STEM.fullmatch(name)) and not _DEVICES.fullmatch(name) and not is_skipped(name)


def can_be_path(path: str) -> bool:
    """Whether ``path`` can be the path of a file below a folder, as in ``files/PATH``."""
    return 0 < len(path.encode("utf-8", "replace")) <= _LONGEST_PATH and all(
        part not in ("", ".", "..")
        and len(part.encode("utf-8", "replace")) <= _LONGEST_PART
        and not _UNFIT.search(part)
        and not _DEVICES.fullmatch(part)
        and not is_never_content(part)
        and part == part.strip(" ").rstrip(".")
        and part == normalize("NFC", part)
        for part in path.split("/")
    )


def fit_together(paths: Collection[str]) -> list[str]:
    """Those of ``paths`` that can lie in one folder on every system, in their order.

    Left out is what would be one with another where capitals do not count, and what would be a file where another
    path needs a folder.
    """
    if len(paths) > _MOST_FILES:
        return []
    files: set[str] = set()
    folders: dict[str, str] = {}
    fitting = []
    for path in paths:
        above = {_fold(folder): folder for folder in _folders(path)}
        if (
            _fold(path) in files
            or _fold(path) in folders
            or any(
                folded in files or folders.get(folded, folder) != folder for folded, folder in above.items()
            )
        ):
            continue
        files.add(_fold(path))
        folders |= above
        fitting.append(path)
    return fitting


def stem_from(text: str, taken: Collection[str]) -> str:
    """A file stem that resembles ``text`` (a URL, a title) and is not among ``taken``."""
    words = re.sub(r"[^a-z0-9]+", "-", text.lower()).strip("-")[:40].strip("-") or "home"
    if not can_be_stem(words):
        words = f"page-{words}"
    number, stem = 1, words
    while stem in taken:
        number += 1
        stem = f"{words}-{number}"
    return stem


def _folders(path: str) -> Iterator[str]:
    parts = path.split("/")
    return ("/".join(parts[:depth]) for depth in range(1, len(parts)))


def _fold(path: str) -> str:
    return normalize("NFC", path.casefold())


__all__ = ["can_be_path", "can_be_stem", "fit_together", "stem_from"]
