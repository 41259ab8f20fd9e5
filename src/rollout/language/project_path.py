"""Paths of files in a code-editing environment: relative, with ``/`` between steps, and never out of the project."""

from __future__ import annotations

from collections.abc import Container, Iterable
from posixpath import normpath

LONGEST_PATH = 400
LONGEST_NAME = 200
DEEPEST = 20


def path_fault(path: str) -> str | None:
    """What is wrong with a path, as a sentence, or None."""
    shown = path if len(path) <= 80 else f"{path[:79]}…"
    if not path:
        return "The path is empty."
    if not path.isprintable():
        return "The path has a character in it that cannot be printed."
    if path.startswith(("/", "~")) or path[1:2] == ":":
        return f"“{shown}” is not relative; paths start at the project's folder, like src/main.py."
    if "\\" in path:
        return f"“{shown}” has a backslash in it; the steps of a path are parted by “/”."
    steps = path.split("/")
    if ".." in steps:
        if normpath(path).split("/")[0] == "..":
            return f"“{shown}” leads out of where it starts; “..” is not allowed."
        return f"“{shown}” goes back with “..”, which is not allowed."
    if "" in steps or "." in steps:
        return f"“{shown}” is no path of a file; it has an empty step or a “.” in it."
    if len(path) > LONGEST_PATH:
        return f"“{shown}” is longer than {LONGEST_PATH} characters."
    if len(steps) > DEEPEST:
        return f"“{shown}” is deeper than {DEEPEST} folders."
    if any(len(step.encode("utf-8", "replace")) > LONGEST_NAME for step in steps):
        return f"“{shown}” has a name in it that is longer than {LONGEST_NAME} bytes."
    return None


def file_above(path: str, files: Container[str]) -> str | None:
    """The file among ``files`` that would have to be a folder for ``path`` to be there, or None."""
    steps = path.split("/")
    above = ("/".join(steps[:depth]) for depth in range(1, len(steps)))
    return next((each for each in above if each in files), None)


def is_folder(path: str, files: Iterable[str]) -> bool:
    """Whether some of ``files`` are below ``path``."""
    return any(each.startswith(f"{path}/") for each in files)


__all__ = ["DEEPEST", "LONGEST_NAME", "LONGEST_PATH", "file_above", "is_folder", "path_fault"]
