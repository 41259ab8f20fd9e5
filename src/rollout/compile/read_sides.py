"""Reads the environments of one side of a comparison: from the work tree, from compiled files, or from a revision."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from glob import has_magic
from pathlib import Path, PurePosixPath

from rollout.check import check
from rollout.check.report import environment_in
from rollout.compile.revision import Extract, Revision, RevisionError, TreeFile
from rollout.compile.sides import Side
from rollout.compile.wire import looks_like_wire, read_wire_file, says_no_environment
from rollout.diagnostics import Severity
from rollout.source import SourceError, find, read
from rollout.source.document import Document
from rollout.source.layout import ENVIRONMENT_FILES, STRUCTURED

_NOTHING_THERE = ("There is no ", "Nothing ")


def sides_at(path: str) -> list[Side]:
    """The environments at ``path``: a compiled file, or whatever :func:`rollout.source.find` takes.

    Raises SourceError when there are none.
    """
    if looks_like_wire(Path(path)):
        return [replace(_side(read_wire_file(Path(path), path).document, "."), has_local=False)]
    home = Path(path)
    sides = []
    for found in find([path]):
        inside = found.relative_to(home).as_posix() if found.is_relative_to(home) else found.as_posix()
        sides += [_side(document, inside) for document in read(found)]
    return sides


def sides_since(revision: Revision, paths: Sequence[str], scratch: Path) -> tuple[list[Side], list[Side]]:
    """The environments at ``paths`` as they were at ``revision``, and as they are in the work tree.

    Without ``paths``: every environment of the repository in which a file changed. The old files are written into
    ``scratch``, an empty folder. Raises RevisionError for a path that is in neither.
    """
    # The folder's own name stands in for the slug of an environment at the repository's root.
    old_root = scratch / (revision.root.name or "repository")
    old_root.mkdir()
    files = revision.files()
    if not paths:
        changed = revision.changed_paths()
        new = [path for path in _find([revision.root]) if _is_touched(revision.relative(path), changed)]
        wanted = list(_changed_environments(files, changed))
        extract = revision.extract(wanted, old_root)
        old = [path for path in _find([old_root]) if _is_touched(_inside(path, old_root), changed)]
    else:
        new = _find(paths)
        places = _places(revision, paths, new)
        extract = revision.extract(_named(files, places), old_root)
        old = _find([old_root / place for place in places if _exists(old_root / place)])
        _refuse_missing(revision, paths, old_root)
    return list(_old_sides(revision, old, extract)), list(_new_sides(revision, new))


def _old_sides(revision: Revision, paths: Iterable[Path], extract: Extract) -> Iterator[Side]:
    for path in paths:
        place = _inside(path, extract.folder)
        lost = [
            name for name in extract.absent if name == place or name.startswith(f"{place}/") or place == "."
        ]
        for side in _sides_in(path, place):
            trouble = None
            if lost:
                trouble = f"At {revision.name}, “{lost[0]}” {extract.absent[lost[0]]}."
            elif side.environment is None:
                trouble = (
                    f"At {revision.name} it had errors, so what changed cannot be told: {_first_error(side)}"
                )
            yield replace(
                side, environment=None if trouble else side.environment, trouble=trouble, report=None
            )


def _new_sides(revision: Revision, paths: Iterable[Path]) -> Iterator[Side]:
    for path in paths:
        yield from _sides_in(path, revision.relative(path) or path.as_posix())


def _sides_in(path: Path, place: str) -> Iterator[Side]:
    documents = [read_wire_file(path, place).document] if looks_like_wire(path) else read(path)
    for document in documents:
        label = place if len(documents) == 1 else f"{place} ({document.slug})"
        yield _side(document, place, label=label)


def _side(document: Document, path: str, *, label: str | None = None) -> Side:
    report = check(document)
    label = label or document.label
    # Broken references are no obstacle to saying what changed; a broken shape is.
    if not says_no_environment(report):
        return Side(path, document.slug, label, environment_in(document), report=report)
    count = "an error" if report.errors == 1 else f"{report.errors} errors"
    return Side(path, document.slug, label, None, f"It has {count}; “rollout validate” tells them.", report)


def _first_error(side: Side) -> str:
    found = side.report.diagnostics if side.report else ()
    first = next((each for each in found if each.severity is Severity.ERROR), None)
    if first is None:
        return "it could not be read."
    return f"{first.message} (line {first.span.line} of {PurePosixPath(first.span.path).name})"


def _find(paths: Iterable[str | os.PathLike[str]]) -> list[Path]:
    found: list[Path] = []
    for path in paths:
        try:
            found += find([path])
        except SourceError as error:
            # An empty place is an answer here; a folder that is too large to look through is not.
            if not str(error).startswith(_NOTHING_THERE):
                raise
    return list(dict.fromkeys(found))


def _exists(path: Path) -> bool:
    return has_magic(str(path)) or os.path.lexists(path)


def _inside(path: Path, root: Path) -> str:
    return path.relative_to(root).as_posix()


def _is_touched(place: str | None, changed: Iterable[str]) -> bool:
    if place is None:
        return False
    return place == "." or any(name == place or name.startswith(f"{place}/") for name in changed)


def _places(revision: Revision, paths: Sequence[str], found: Iterable[Path]) -> list[str]:
    places: dict[str, None] = {}
    for path in (*(Path(given) for given in paths), *found):
        place = revision.relative(path)
        if place is None:
            raise RevisionError(
                f"“{path}” lies outside the repository “{revision.root}”.",
                "Only what is in the repository has a revision.",
            )
        places[place] = None
    return list(places)


def _named(files: Sequence[TreeFile], places: Iterable[str]) -> list[TreeFile]:
    wanted: dict[str, TreeFile] = {}
    for place in places:
        prefix = _plain_prefix(place)
        if place.endswith(".py"):
            # Its neighbours too: a Python file may import them.
            prefix = PurePosixPath(place).parent.as_posix()
        for file in files:
            if prefix in (".", file.path) or file.path.startswith(f"{prefix}/"):
                wanted[file.path] = file
    return list(wanted.values())


def _plain_prefix(place: str) -> str:
    parts = PurePosixPath(place).parts
    plain = next((number for number, part in enumerate(parts) if has_magic(part)), len(parts))
    return "/".join(parts[:plain]) or "."


def _changed_environments(files: Sequence[TreeFile], changed: Iterable[str]) -> Iterator[TreeFile]:
    folders = {
        PurePosixPath(file.path).parent.as_posix()
        for file in files
        if PurePosixPath(file.path).name in ENVIRONMENT_FILES
    }
    touched = {
        above.as_posix()
        for name in changed
        for above in PurePosixPath(name).parents
        if above.as_posix() in folders
    }
    names = set(changed)
    for file in files:
        alone = file.path in names and file.path.rpartition(".")[2].lower() in STRUCTURED
        if alone or any(above.as_posix() in touched for above in PurePosixPath(file.path).parents):
            yield file


def _refuse_missing(revision: Revision, paths: Sequence[str], old_root: Path) -> None:
    for path in paths:
        place = revision.relative(Path(path)) or "."
        if not _find([path]) and not _find([old_root / place] if _exists(old_root / place) else []):
            raise RevisionError(
                f"There is no environment at “{path}”, neither now nor at {revision.name}.",
                "Paths are those of today, relative to the current folder.",
            )


__all__ = ["sides_at", "sides_since"]
