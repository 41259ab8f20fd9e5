"""Finds what lies in an environment's folder that nobody reads, such as ``verifer.yaml``.

A file that a typing error hides is the worst kind of mistake: the environment works, without its verifier. What
people keep beside an environment on purpose is let be: readmes and licences, other documents, Python, ``x-…``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from rollout.source.file import whole
from rollout.source.listing import Entry
from rollout.source.place import Problem

_LET_BE = ("readme", "license", "licence", "copying", "notice", "authors", "changelog", "contributing", "x-")
_LET_BE_SUFFIXES = ("py", "pyi", "ipynb")
_DOCUMENTS = ("md", "rst", "txt", "adoc", "pdf")


def unread_files(
    beside: Iterable[Entry],
    inside: Iterable[tuple[Entry, tuple[str, ...]]],
    *,
    known: Collection[str],
    template: str | None,
) -> Iterator[Problem]:
    """A problem for every entry that nobody reads, and that is not let be.

    ``beside`` lie next to the environment file, where the names ``known`` are read. ``inside`` lie in a folder that
    is read, each with the suffixes that are read there: none where its name alone keeps it from being read.
    """
    for entry in beside:
        if not _is_let_be(entry) and not (_is_document(entry) and not _is_near(entry.name, known)):
            yield _unread(entry, known=tuple(known), template=template)
    for entry, suffixes in inside:
        if not _is_let_be(entry):
            yield _unread(entry, suffixes=suffixes)


def _unread(entry: Entry, **facts: object) -> Problem:
    return Problem(
        "unread-file", whole(entry.label), {"name": entry.name, "is_folder": entry.is_folder, **facts}
    )


def _is_let_be(entry: Entry) -> bool:
    name = entry.name.casefold()
    return name.startswith(_LET_BE) or entry.suffix in _LET_BE_SUFFIXES or name.endswith("~")


def _is_document(entry: Entry) -> bool:
    return entry.suffix in _DOCUMENTS or (entry.is_folder and entry.name.casefold() in ("doc", "docs"))


def _is_near(name: str, known: Collection[str]) -> bool:
    from difflib import get_close_matches

    folded = name.casefold()
    return folded in known or bool(get_close_matches(folded, known, n=1, cutoff=0.85))


__all__ = ["unread_files"]
