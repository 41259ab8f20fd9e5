"""Lists what lies in an environment's folder, in one order on every machine, and never outside it.

A symbolic link may point to something else in the folder; one that leads out is a problem and is not followed.
Hidden files, ``__pycache__``, ``node_modules`` and compiled Python are left out: tools put them there, not authors.
Below ``files/`` and ``hidden/`` hidden files are content like any other (``.gitignore``, ``.github/``), and only what
tools leave behind is left out.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from unicodedata import normalize

from rollout.source.file import reason, whole
from rollout.source.place import Problem

MAX_ENTRIES = 10_000
"""How many files and folders one environment may hold; more is most likely a folder that came in by mistake."""
MAX_DEPTH = 100
"""How deep folders may lie inside each other."""

_SKIPPED = frozenset({"__pycache__", "node_modules"})
_COMPILED = (".pyc", ".pyo")
# What comes by itself, wherever a person opens a folder or runs its tests.
_LITTER = frozenset(
    {"__pycache__", ".ds_store", "thumbs.db", "desktop.ini", ".pytest_cache", ".mypy_cache", ".ruff_cache"}
)
# What somebody put there, and may believe that the agent gets.
_NEVER_CONTENT = frozenset({".git", ".hg", ".svn", "node_modules", ".venv"})


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or folder. ``name`` is its path in the folder listed: posix, and NFC as macOS and Linux differ."""

    path: Path
    name: str
    label: str
    is_folder: bool

    @property
    def stem(self) -> str:
        """The last part of the name without its suffix: ``orders`` for ``fixtures/orders.csv``."""
        return self.name.rpartition("/")[2].rpartition(".")[0] or self.name.rpartition("/")[2]

    @property
    def suffix(self) -> str:
        """What follows the last dot, in lower case: ``csv``; empty for a folder."""
        base = self.name.rpartition("/")[2]
        return "" if self.is_folder or "." not in base[1:] else base.rpartition(".")[2].lower()


def is_skipped(name: str) -> bool:
    """Whether a file or folder of this name is left out everywhere."""
    return name.startswith(".") or name in _SKIPPED or name.endswith(_COMPILED)


def is_never_content(name: str) -> bool:
    """Whether a file or folder of this name is no content of an environment, even where hidden files are."""
    # Names that differ in capitals are one on macOS and Windows.
    return name.casefold() in _NEVER_CONTENT or is_litter(name)


def is_litter(name: str) -> bool:
    """Whether tools put a file or folder of this name wherever they work; it is never read."""
    return name.casefold() in _LITTER or name.endswith(_COMPILED)


def join_label(label: str, name: str) -> str:
    """How a person is shown ``name`` in the folder shown as ``label``; what does not print is replaced."""
    joined = name if label in ("", ".") else f"{label.rstrip('/')}/{name}"
    return joined.encode("utf-8", "replace").decode("utf-8")


class Listing:
    """The folder of one environment, and the problems met while listing it."""

    def __init__(self, root: Path, label: str, problems: list[Problem]) -> None:
        self.root = root
        self.label = label
        self.problems = problems
        self.left_out: list[Entry] = []
        self.is_complete = True
        self.refused: set[str] = set()
        """Names in the environment's own folder that are there, but are not followed or cannot be read."""
        self._real_root = os.path.realpath(root)
        self._left = MAX_ENTRIES

    def entries(
        self, folder: Entry | None = None, *, passes_by: Callable[[str], bool] = is_skipped
    ) -> list[Entry]:
        """What lies directly in ``folder`` (None: in the environment's own), sorted by name.

        ``passes_by`` says of a name whether it is left out.
        """
        path = self.root if folder is None else folder.path
        label = self.label if folder is None else folder.label
        found: list[Entry] = []
        try:
            with os.scandir(path) as items:
                for item in items:
                    if passes_by(item.name):
                        continue
                    if self._left == 0:
                        self._add("huge-folder", self.label, kind="entries", limit=MAX_ENTRIES)
                        break
                    self._left -= 1
                    entry = self._entry(item, label)
                    if entry is not None:
                        found.append(entry)
                    elif folder is None:
                        self.refused.add(normalize("NFC", item.name))
        except OSError as error:
            self._add("unreadable-file", label or ".", reason=reason(error), is_folder=True)
        return sorted(found, key=lambda entry: entry.name)

    def files(self, folder: Entry) -> Iterator[Entry]:
        """Every file below ``folder``, however deep, sorted, hidden ones too; names are relative to ``folder``.

        What is no content is left out, and listed in ``left_out`` unless it comes by itself.
        """
        yield from self._walk(folder, "", (os.path.realpath(folder.path),))

    def _walk(self, folder: Entry, prefix: str, above: tuple[str, ...]) -> Iterator[Entry]:
        for entry in self.entries(folder, passes_by=is_litter):
            name = prefix + entry.name
            if is_never_content(entry.name):
                self.left_out.append(entry)
                continue
            if not entry.is_folder:
                yield Entry(entry.path, name, entry.label, False)
                continue
            real = os.path.realpath(entry.path)
            if real in above:
                self._add("symlink-loop", entry.label, target=self._shown(real))
            elif len(above) > MAX_DEPTH:
                self._add("huge-folder", entry.label, kind="depth", limit=MAX_DEPTH)
            else:
                yield from self._walk(entry, f"{name}/", (*above, real))

    def _entry(self, item: os.DirEntry[str], label: str) -> Entry | None:
        name = normalize("NFC", item.name)
        shown = join_label(label, name)
        try:
            item.name.encode("utf-8")
        except UnicodeEncodeError:
            self._add("unreadable-file", shown, reason="its name is not UTF-8")
            return None
        try:
            if item.is_symlink():
                real = os.path.realpath(item.path)
                if not self._is_inside(real):
                    self._add("path-leaves-folder", shown, target=_readable_link(item.path), kind="symlink")
                    return None
            return Entry(Path(item.path), name, shown, item.is_dir())
        except (OSError, ValueError) as error:
            self._add("unreadable-file", shown, reason=reason(error))
            return None

    def _is_inside(self, real: str) -> bool:
        return real == self._real_root or real.startswith(self._real_root.rstrip(os.sep) + os.sep)

    def _shown(self, real: str) -> str:
        return join_label(self.label, os.path.relpath(real, self._real_root).replace(os.sep, "/"))

    def _add(self, slug: str, label: str, **facts: object) -> None:
        self.is_complete = False
        self.problems.append(Problem(slug, whole(label), facts))


def _readable_link(path: str) -> str:
    return join_label("", os.fspath(Path(path).readlink()))


__all__ = ["MAX_ENTRIES", "Entry", "Listing", "is_litter", "is_never_content", "is_skipped", "join_label"]
