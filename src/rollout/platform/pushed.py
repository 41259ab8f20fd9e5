"""What was last pushed or pulled, by endpoint, path and slug: ``.rollout/pushed.json`` at the root of a project.

By it a push can tell what was changed there since from what was changed here. It says nothing to anybody else, so the
folder has a ``.gitignore`` of its own that leaves all of it out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rollout.compile.folder_writer import WriteError, write_file
from rollout.platform.endpoints import LOCAL
from rollout.settings import FILE

FOLDER = ".rollout"


class PushedError(ValueError):
    """A memory that cannot be used; the text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str) -> None:
        super().__init__(sentence)
        self.hint = hint


@dataclass(frozen=True, slots=True)
class Record:
    """``here`` is the digest of what was pushed or pulled, ``there`` of what the endpoint held then, which may say the
    same in other words."""

    here: str
    there: str


class Memory:
    """The records of what is at one path, a folder or a file, for one endpoint. Every method raises PushedError."""

    def __init__(self, path: Path, endpoint: str) -> None:
        project = project_of(path)
        self._folder = project / FOLDER
        self._path = path.resolve().relative_to(project).as_posix()
        self._endpoint = _name(endpoint)

    def get(self, slug: str) -> Record | None:
        """What is remembered of an environment."""
        said = self._read().get(self._endpoint, {}).get(self._path, {}).get(slug)
        return None if said is None else Record(said["here"], said["there"])

    def keep(self, slug: str, record: Record) -> None:
        """Remembers it, and writes nothing where it is remembered already."""
        if self.get(slug) == record:
            return
        with self._alone():
            known = self._read()
            slugs = known.setdefault(self._endpoint, {}).setdefault(self._path, {})
            slugs[slug] = {"here": record.here, "there": record.there}
            self._write(self._folder / "pushed.json", f"{json.dumps(known, indent=2, sort_keys=True)}\n")

    def _read(self) -> dict[str, Any]:
        path = self._folder / "pushed.json"
        try:
            value = json.loads(path.read_bytes())
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise PushedError(f"“{path}” cannot be read: {error.strerror}.", "Look at its rights.") from None
        except (ValueError, RecursionError):
            value = None
        if not _is_memory(value):
            raise PushedError(
                f"“{path}” is not what rollout wrote there.",
                "Remove it; the next push then shows what differs from what the endpoint holds, and asks.",
            )
        known: dict[str, Any] = value
        return known

    @contextmanager
    def _alone(self) -> Iterator[None]:
        try:
            self._folder.mkdir(exist_ok=True)
            if not (self._folder / ".gitignore").exists():
                self._write(
                    self._folder / ".gitignore", "# What this project last pushed, for rollout push.\n*\n"
                )
            with (self._folder / "lock").open("a") as file:
                with suppress(ImportError, OSError):
                    import fcntl

                    fcntl.flock(file, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise PushedError(
                f"“{self._folder}” cannot be written: {error.strerror}.", "Look at the rights of the folder."
            ) from None

    def _write(self, path: Path, text: str) -> None:
        try:
            write_file(path, text.encode())
        except WriteError as error:
            raise PushedError(str(error), error.hint or "Look at the rights of the folder.") from None


def project_of(path: Path) -> Path:
    """The folder of the project that an environment is part of: that of its ``rollout.toml`` or its repository, or else
    the one that the environment is in."""
    home = path.resolve().parent
    for each in (path.resolve(), *path.resolve().parents):
        if (each / FILE).is_file() or (each / ".git").exists():
            return each
    return home


def _name(endpoint: str) -> str:
    if endpoint != LOCAL:
        return endpoint
    from rollout.platform.local import data_folder

    # Another folder of data is another platform.
    return f"{LOCAL}:{data_folder().absolute()}"


def _is_memory(value: Any, depth: int = 3) -> bool:
    if not isinstance(value, dict):
        return False
    if depth == 0:
        return all(isinstance(value.get(key), str) for key in ("here", "there"))
    return all(_is_memory(each, depth - 1) for each in value.values())


__all__ = ["FOLDER", "Memory", "PushedError", "Record", "project_of"]
