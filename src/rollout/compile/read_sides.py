"""Reads the environments of one side of a comparison: from the work tree, from compiled files, or from a revision."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from glob import has_magic
from pathlib import Path, PurePosixPath

from rollout.check import check
from rollout.check.masking import without_secrets
from rollout.check.report import Report, environment_in
from rollout.compile.extract import Extract
from rollout.compile.revision import Revision, RevisionError, TreeFile
from rollout.compile.sides import Side
from rollout.compile.wire import looks_like_wire, read_wire_file, says_no_environment
from rollout.diagnostics import Severity
from rollout.source import SourceError, find, read
from rollout.source.document import Document
from rollout.source.file import read_regular
from rollout.source.layout import ENVIRONMENT_FILES, STRUCTURED, known_names
from rollout.source.listing import is_skipped
from rollout.source.reading import label_of
from rollout.source.snapshot import settled

_MOST_BESIDE = 2_000
_NOTHING_THERE = ("There is no ", "Nothing ")


def sides_at(path: str) -> list[Side]:
    """The environments at ``path``: a compiled file, or whatever :func:`rollout.source.find` takes.

    Raises SourceError when there are none.
    """
    if looks_like_wire(Path(path)):
        side = _side(read_wire_file(Path(path), path).document, ".", path)
        # No command tells more of a compiled file than this one.
        errors = side.errors and f"“{path}” has errors, which are told beside this review."
        return [replace(side, has_local=False, errors=errors)]
    home = Path(path)
    sides = []
    for found in find([path]):
        inside = found.relative_to(home).as_posix() if found.is_relative_to(home) else found.as_posix()
        sides += [_side(document, inside, label_of(found)) for document in read(found)]
    return sides


def sides_since(revision: Revision, paths: Sequence[str], scratch: Path) -> tuple[list[Side], list[Side]]:
    """The environments at ``paths`` as they were at ``revision``, and as they are in the work tree.

    Without ``paths``: every environment of the repository in which a file changed. The old files are written into
    ``scratch``, an empty folder. One that is named by the path it was moved to is found where it was, by its slug;
    one in a submodule has its revisions elsewhere, and says so. Raises RevisionError for a path that is in neither.
    """
    # The folder's own name stands in for the slug of an environment at the repository's root.
    old_root = scratch / (revision.root.name or "repository")
    old_root.mkdir()
    files = revision.files
    if not paths:
        return _all_changed(revision, old_root)
    new = _find(paths)
    places = _places(revision, paths, new)
    extract = revision.extract(_with_code(revision, _named(files, places)), old_root)
    old = _find([old_root / place for place in places if _exists(old_root / place)])
    _refuse_missing(revision, paths, old_root)
    before, after = list(_old_sides(revision, old, extract)), list(_new_sides(revision, new))
    before += _moved_away(revision, files, before, after, scratch / "moved")
    return before, after


def _all_changed(revision: Revision, old_root: Path) -> tuple[list[Side], list[Side]]:
    changed = revision.changed_paths
    found = {path: revision.relative(path) or "." for path in _find([revision.root])}
    of_git = _reached([*changed, *(file.path for file in revision.files)])
    known = [place for place in found.values() if place in of_git]
    # What git ignores is part of an environment all the same, and changes it.
    unseen = {name for name in revision.ignored_paths(known) if _is_read(name, known)}
    near = changed | unseen
    certain, likely = _reached(changed), _reached(near)
    extract = revision.extract(
        _with_code(revision, list(_changed_environments(revision.files, near))), old_root
    )
    old = {path: _inside(path, old_root) for path in _find([old_root])}
    before = _old_sides(
        revision, [path for path, place in old.items() if _home(path, place) in likely], extract
    )
    after = _new_sides(revision, [path for path, place in found.items() if _home(path, place) in likely])
    return [replace(side, is_sure=side.path in certain) for side in before], [
        replace(side, is_sure=side.path in certain) for side in after
    ]


def overlooked_submodules(revision: Revision, paths: Sequence[str]) -> list[str]:
    """The submodules in which something may have changed that is not compared: those that changed, or are named."""
    found = revision.submodules()
    if not found:
        return []
    if not paths:
        return [name for name in found if name in revision.changed_paths]
    places = [revision.relative(Path(path)) or "." for path in paths]
    return [name for name in found if any(_lies_in(name, place) or _lies_in(place, name) for place in places)]


def _moved_away(
    revision: Revision, files: Sequence[TreeFile], before: list[Side], after: list[Side], scratch: Path
) -> list[Side]:
    """Environments that are gone from where they were, and have the slugs of ``after`` that have no old side yet."""
    known = {(trait, getattr(side, trait)) for side in before for trait in ("path", "slug")}
    wanted = {
        side.slug
        for side in after
        if side.environment is not None and not {("path", side.path), ("slug", side.slug)} & known
    }
    folders = {
        PurePosixPath(file.path).parent.as_posix()
        for file in files
        if PurePosixPath(file.path).name in ENVIRONMENT_FILES
    }
    gone = {
        folder
        for folder in folders
        if folder != "." and not any((revision.root / folder / name).exists() for name in ENVIRONMENT_FILES)
    }
    gone |= {
        file.path
        for file in files
        if file.path.rpartition(".")[2].lower() in STRUCTURED
        and not (revision.root / file.path).exists()
        and not any(_lies_in(file.path, folder) for folder in folders)
    }
    if not wanted or not gone:
        return []
    scratch.mkdir()
    wanted_files = _with_code(revision, [file for file in files if _is_below(file.path, gone)])
    extract = revision.extract(wanted_files, scratch)
    found = _old_sides(revision, _find([scratch]), extract)
    return [side for side in found if side.slug in wanted]


def _is_below(path: str, places: Collection[str]) -> bool:
    return path in places or any(above.as_posix() in places for above in PurePosixPath(path).parents)


def _lies_in(path: str, place: str) -> bool:
    return place in (".", path) or path.startswith(f"{place}/")


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
            errors = side.errors and f"At {revision.name}, “{side.label}” had errors."
            yield replace(
                side,
                environment=None if trouble else side.environment,
                trouble=trouble,
                report=None,
                errors=errors,
            )


def _new_sides(revision: Revision, paths: Iterable[Path]) -> Iterator[Side]:
    submodules = revision.submodules()
    for path in paths:
        place = revision.relative(path) or path.as_posix()
        home = next((name for name in submodules if _lies_in(place, name)), None)
        for side in _sides_in(path, place):
            if home is None:
                yield side
                continue
            trouble = f"It lies in the submodule “{home}”, another repository: run “rollout diff --git REV” in there."
            yield replace(side, environment=None, trouble=trouble)


def _sides_in(path: Path, place: str) -> Iterator[Side]:
    documents = [read_wire_file(path, place).document] if looks_like_wire(path) else read(path)
    for document in documents:
        label = place if len(documents) == 1 else f"{place} ({document.slug})"
        yield _side(document, place, label_of(path), label=label)


def _side(document: Document, path: str, named: str, *, label: str | None = None) -> Side:
    """One side; ``named`` is its path as a command takes it."""
    return settled(document, lambda document: _side_of(check(document), path, named, label=label))


def _side_of(report: Report, path: str, named: str, *, label: str | None) -> Side:
    document = report.document
    label = label or document.label
    count = "an error" if report.errors == 1 else f"{report.errors} errors"
    tells = f"“rollout validate {named}” tells {'it' if report.errors == 1 else 'them'}"
    # Broken references are no obstacle to saying what changed; a broken shape is.
    if not says_no_environment(report):
        errors = None if report.ok else f"“{named}” has {count}: {tells}."
        return Side(path, document.slug, label, environment_in(document), report=report, errors=errors)
    trouble = f"It has {count}, so what changed cannot be told: {tells}."
    return Side(path, document.slug, label, None, trouble, report, errors=trouble)


def _first_error(side: Side) -> str:
    found = side.report.diagnostics if side.report else ()
    first = next((each for each in found if each.severity is Severity.ERROR), None)
    if first is None:
        return "it could not be read."
    [first] = without_secrets([first])
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


def _reached(names: Iterable[str]) -> set[str]:
    """``names``, and all folders above them."""
    return {
        place
        for name in names
        for place in (name, *(above.as_posix() for above in PurePosixPath(name).parents))
    }


def _home(path: Path, place: str) -> str:
    """Where the files lie that what is at ``path`` depends on: beside a single file, its code may be."""
    if path.is_dir() or not _may_have_code(_head(path)):
        return place
    return PurePosixPath(place).parent.as_posix()


def _may_have_code(data: bytes) -> bool:
    return b"python" in data and b"function" in data


def _head(path: Path) -> bytes:
    try:
        return read_regular(path)
    except OSError:
        return b""


def _is_read(name: str, places: Collection[str]) -> bool:
    """Whether a file at or below one of ``places``, where environments are, is one that they are read from."""
    path = PurePosixPath(name)
    above = next((each for each in path.parents if each.as_posix() in places), None)
    if above is None:
        return name in places
    inside = path.relative_to(above)
    if inside.parts[0] in known_names(None):
        return True
    return path.suffix == ".py" and not any(map(is_skipped, inside.parts))


def _with_code(revision: Revision, files: list[TreeFile]) -> list[TreeFile]:
    """``files``, and beside single files that may name a function that judges, what they may run."""
    alone = [file for file in files if file.path.rpartition(".")[2].lower() in STRUCTURED]
    homes = {
        PurePosixPath(file.path).parent.as_posix()
        for file, data in revision.contents(alone)
        if PurePosixPath(file.path).name not in known_names(None) and _may_have_code(data)
    }
    beside = [file for file in revision.files if any(_lies_in(file.path, home) for home in homes)]
    beside.sort(key=lambda file: file.path.count("/"))
    return list({file.path: file for file in (*files, *beside[:_MOST_BESIDE])}.values())


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
    reached = _reached(changed)
    for file in files:
        # Something changed in it, or beside it, where its code may be.
        alone = file.path.rpartition(".")[2].lower() in STRUCTURED and (
            PurePosixPath(file.path).parent.as_posix() in reached
        )
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


__all__ = ["overlooked_submodules", "sides_at", "sides_since"]
