"""The files of a code-editing world: which paths there may be, how large they may grow, and what stands in the way."""

from __future__ import annotations

from collections.abc import Mapping

MOST_BYTES = 1024 * 1024
"""How large one file may be."""

MOST_BYTES_IN_ALL = 16 * 1024 * 1024
MOST_FILES = 2000

_LONGEST_PATH = 400
_LONGEST_NAME = 200
_DEEPEST = 20


class RefusedError(ValueError):
    """A path or a content that there cannot be; its text is a sentence."""


def read_path(written: str) -> str:
    """The path as it is kept; ``./`` at its beginning is dropped. Raises RefusedError.

    A path is relative, its steps parted by ``/``, and stays inside.
    """
    path = written.removeprefix("./")
    if not path:
        raise RefusedError("The path is empty.")
    if len(path) > _LONGEST_PATH:
        raise RefusedError(f"The path is longer than {_LONGEST_PATH} characters.")
    if path.startswith(("/", "~")) or path[1:2] == ":":
        raise RefusedError(
            f"“{written}” is not relative; paths start at the project's folder, like src/main.py."
        )
    if "\\" in path:
        raise RefusedError(f"“{written}” has a backslash in it; the steps of a path are parted by “/”.")
    if not path.isprintable():
        raise RefusedError("The path has a character in it that cannot be printed.")
    steps = path.split("/")
    if ".." in steps:
        raise RefusedError(f"“{written}” leads out of where it starts; “..” is not allowed.")
    if "" in steps or "." in steps:
        raise RefusedError(f"“{written}” is no path of a file; it has an empty step in it.")
    if len(steps) > _DEEPEST:
        raise RefusedError(f"“{written[:80]}…” is deeper than {_DEEPEST} folders.")
    if any(len(step.encode("utf-8", "replace")) > _LONGEST_NAME for step in steps):
        raise RefusedError(f"A name in the path is longer than {_LONGEST_NAME} bytes.")
    return path


def measured(content: str) -> int:
    """The bytes of a content in UTF-8. Raises RefusedError when it is none, or too large."""
    try:
        size = len(content.encode("utf-8"))
    except UnicodeEncodeError as error:
        raise RefusedError(f"The content has half a surrogate pair at character {error.start + 1}.") from None
    if size > MOST_BYTES:
        raise RefusedError(f"The content has {size:,} bytes; a file may have up to {MOST_BYTES:,}.")
    return size


def obstacle(path: str, files: Mapping[str, str]) -> str | None:
    """Why there cannot be a file at ``path`` among ``files``, or None."""
    if any(other.startswith(f"{path}/") for other in files):
        return f"“{path}” is a folder."
    steps = path.split("/")
    for depth in range(1, len(steps)):
        if (above := "/".join(steps[:depth])) in files:
            return f"“{above}” is a file, so there cannot be a file “{path}”."
    return None


__all__ = [
    "MOST_BYTES",
    "MOST_BYTES_IN_ALL",
    "MOST_FILES",
    "RefusedError",
    "measured",
    "obstacle",
    "read_path",
]
