"""Reads what a path holds: an environment's folder, a single file, or a Python file with several environments."""

from __future__ import annotations

import os
from pathlib import Path

from rollout.source.document import Document
from rollout.source.find import SourceError


def read(path: str | os.PathLike[str], *, slug: str | None = None) -> list[Document]:
    """The environments at ``path``, which :func:`find` has found; only the one called ``slug`` when that is given.

    What is wrong inside the files is in each document's ``problems``. Raises SourceError when there is nothing
    at ``path``, or no environment of that slug.
    """
    path = Path(path)
    label = label_of(path)
    # Imported when first needed: reading a folder does not pay for running Python, nor the other way round.
    if path.is_dir():
        from rollout.source.folder import read_folder

        documents = [read_folder(path, label)]
    elif path.suffix.lower() == ".py":
        from rollout.source.python_file import read_python

        documents = read_python(path, label)
    elif path.exists():
        from rollout.source.folder import read_file

        documents = [read_file(path, label)]
    else:
        raise SourceError(f"There is no “{label}”.")
    if slug is None:
        return documents
    chosen = [document for document in documents if document.slug == slug]
    if chosen or not all(document.readable for document in documents):
        return chosen or documents
    raise SourceError(f"There is no environment “{slug}” in “{label}”.", _choices(documents))


def read_one(path: str | os.PathLike[str], *, slug: str | None = None) -> Document:
    """The one environment at ``path``. Raises SourceError when there are several and ``slug`` does not say which."""
    documents = read(path, slug=slug)
    if len(documents) == 1:
        return documents[0]
    label = label_of(Path(path))
    if slug is not None:
        raise SourceError(
            f"{len(documents)} environments in “{label}” have the slug “{slug}”.",
            "Give each a slug of its own.",
        )
    raise SourceError(f"There are {len(documents)} environments in “{label}”.", _choices(documents))


def label_of(path: Path) -> str:
    """How a person is shown ``path``: relative to the current folder where it lies inside it, else as it is."""
    shown = path
    if path.is_absolute():
        try:
            shown = path.relative_to(Path.cwd())
        except (OSError, ValueError):
            shown = path
    return shown.as_posix().encode("utf-8", "replace").decode("utf-8")


def _choices(documents: list[Document]) -> str:
    slugs = [document.slug for document in documents]
    if len(slugs) == 1:
        return f"The one there is called “{slugs[0]}”."
    listed = ", ".join(f"“{slug}”" for slug in slugs[:20])
    return f"Choose one with --slug: {listed}{' and more' if len(slugs) > 20 else ''}."


__all__ = ["label_of", "read", "read_one"]
