"""A folder that files of a git revision are written into, and that no path of theirs leaves."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, slots=True)
class Extract:
    """What was written. ``absent`` are the files that could not be, each with the reason as a sentence's end."""

    folder: Path
    absent: dict[str, str] = field(default_factory=dict)

    def takes(self, path: str) -> bool:
        """Whether a path stays in the folder; else its file is absent."""
        parts = PurePosixPath(path).parts
        plain = path == "/".join(parts) and not path.startswith("/")
        if plain and all(part not in ("", ".", "..") and part.lower() != ".git" for part in parts):
            return True
        self.absent[path] = "has a path that does not stay in its folder"
        return False

    def link(self, name: str, destination: str) -> None:
        """Makes a symbolic link where it leads to something inside; else it is absent."""
        path = self.folder / name
        leads_to = os.path.normpath(path.parent / destination)
        root = os.path.normpath(self.folder)
        if PurePosixPath(destination).is_absolute() or not (
            leads_to == root or leads_to.startswith(root + os.sep)
        ):
            self.absent[name] = "is a symbolic link that leads out of the repository"
            return
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.symlink_to(destination)
        except OSError as error:
            self.absent[name] = f"cannot be made here: {error.strerror or error}"
            return
        # The parts of the way may be links themselves.
        if not os.path.realpath(path).startswith(os.path.realpath(self.folder) + os.sep):
            path.unlink()
            self.absent[name] = "is a symbolic link that leads out of the repository"


__all__ = ["Extract"]
