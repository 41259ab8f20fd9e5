"""The files of a code-editing world: which paths there may be, how large they may grow, and what stands in the way."""

from __future__ import annotations

from collections.abc import Mapping

from rollout.language.project_path import file_above, is_folder, path_fault

MOST_BYTES = 1024 * 1024
"""How large one file may be."""

MOST_BYTES_IN_ALL = 16 * 1024 * 1024
MOST_FILES = 2000


class RefusedError(ValueError):
    """A path or a content that there cannot be; its text is a sentence."""


def read_path(written: str) -> str:
    """The path as it is kept; ``./`` at its beginning is dropped. Raises RefusedError."""
    path = written.removeprefix("./")
    if (fault := path_fault(path)) is not None:
        raise RefusedError(fault)
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
    if is_folder(path, files):
        return f"“{path}” is a folder."
    if (above := file_above(path, files)) is not None:
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
