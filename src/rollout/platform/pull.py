"""Pulling an environment into a folder: a new one, or one whose files change only where they say something else."""

from __future__ import annotations

import shutil
from collections.abc import Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from rollout.check.report import environment_in
from rollout.compile import compile_environment
from rollout.compile.change import Difference
from rollout.compile.diff import diff
from rollout.compile.folder_writer import WriteError, write_file, write_folder
from rollout.compile.refold import Refolded, RefoldError, refold
from rollout.compile.spread import spread
from rollout.platform.held import Held
from rollout.scratch import scratch
from rollout.source import SourceError, read_one
from rollout.source.document import Document
from rollout.source.layout import ENVIRONMENT_FILES

_INTO_A_FOLDER = "Pull into a folder: -o FOLDER"


class PullError(Exception):
    """A version that is not written; the text is a sentence, ``hint`` the way out.

    ``lost`` is what would have been lost of what is here: the difference from here to there.
    """

    def __init__(self, sentence: str, hint: str | None = None, *, lost: Difference | None = None) -> None:
        super().__init__(sentence)
        self.hint = hint
        self.lost = lost


@dataclass(frozen=True, slots=True)
class Pulled:
    """What was written, by paths relative to the folder. ``anew`` are files that lost their comments, and
    ``solutions`` the tasks whose solution is of what they said before; ``whole`` says that all was written anew."""

    written: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    anew: tuple[str, ...] = ()
    solutions: tuple[str, ...] = ()
    whole: bool = False


@dataclass(slots=True)
class _Written:
    before: dict[Path, bytes | None] = field(default_factory=dict)

    def take_back(self) -> None:
        for path, data in self.before.items():
            with suppress(OSError, WriteError):
                if data is None:
                    path.unlink(missing_ok=True)
                else:
                    write_file(path, data)


def pull(held: Held, target: Path, known: Collection[str], *, force: bool = False) -> Pulled:
    """Writes what is held into ``target``, a folder or the file of one environment.

    A new folder is laid out as :func:`rollout.compile.spread.spread` does it. In an old one, what is only here (ids,
    solutions, comments) stays; unless ``force``, it is refused where its digest is not ``known``: it has then what is
    nowhere else. What is written compiles to what is held, or nothing is written. Raises PullError.
    """
    if _is_free(target):
        return _whole(held, target, force=False)
    try:
        document = _document(target)
        here = compile_environment(environment_in(document))
    except (PullError, ValueError) as error:
        if target.is_file():
            raise PullError(f"“{target}” cannot be pulled into. {error}", _INTO_A_FOLDER) from None
        if not force:
            raise PullError(
                f"What is in “{target}” cannot be read, so nothing of it could be kept. {error}",
                "Mend it, name another folder, or have it replaced with --force.",
            ) from None
        return _whole(held, target, force=True)
    if here.digest == held.digest:
        return Pulled()
    if not force and here.digest not in known:
        raise PullError(
            f"“{target}” says something that was never pushed: pulling would undo what is only there.",
            "Push it, put it away, or pull into another folder with -o. With --force it is undone.",
            lost=diff(environment_in(document), held.environment, local=False),
        )
    try:
        changes = refold(document, held.compiled)
        _prove(held, target, changes)
    except RefoldError as error:
        if target.is_file():
            raise PullError(f"“{target}” cannot be changed in its place: {error}", _INTO_A_FOLDER) from None
        if not force:
            raise PullError(
                f"“{target}” cannot be changed file by file: {error}",
                "Pull into another folder with -o. With --force all of it is written anew, without its comments, ids "
                "and solutions.",
            ) from None
        return _whole(held, target, force=True)
    return write_changes(target, changes)


def _is_free(target: Path) -> bool:
    return not target.exists() or (target.is_dir() and not any(target.iterdir()))


def _document(target: Path) -> Document:
    if target.is_dir() and not any((target / name).exists() for name in ENVIRONMENT_FILES):
        raise PullError("There is no environment in it.")
    if target.suffix.lower() == ".py":
        raise PullError("It is a Python file, which is not written to.")
    try:
        document = read_one(target)
    except SourceError as error:
        raise PullError(str(error)) from None
    if not document.readable:
        raise PullError("“rollout validate” says what is wrong with it.")
    return document


def _whole(held: Held, target: Path, *, force: bool) -> Pulled:
    files = spread({"environment": held.compiled.environment, "verifier": held.compiled.verifier})

    def inspect(folder: Path) -> None:
        if compile_environment(environment_in(read_one(folder))).digest != held.digest:
            raise PullError(
                "Nothing was written: the folder would compile to other bytes than what is held.",
                "This is a fault in rollout; please report it.",
            )

    try:
        write_folder(target, files, replace=force, inspect=inspect)
    except WriteError as error:
        raise PullError(str(error), error.hint) from None
    return Pulled(tuple(sorted(files)), whole=force)


def _prove(held: Held, target: Path, changes: Refolded) -> None:
    """Raises RefoldError unless the files would then compile to what is held."""
    home = target if target.is_dir() else target.parent
    with scratch("pull") as made:
        # Under its own name: where no slug is given, it is that.
        copy = Path(made, target.resolve().name)
        if target.is_dir():
            shutil.copytree(target, copy, ignore=shutil.ignore_patterns(".git", ".rollout"))
        else:
            shutil.copy(target, copy)
        for path, data in changes.texts.items():
            place = copy / path.relative_to(home) if target.is_dir() else copy
            if data is None:
                place.unlink()
            else:
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
        try:
            document = read_one(copy)
            same = document.readable and compile_environment(environment_in(document)).digest == held.digest
        except (SourceError, ValueError):
            same = False
    if not same:
        raise RefoldError("changed so, its files would say something else than what is held.")


def write_changes(target: Path, changes: Refolded) -> Pulled:
    """Writes changes of the files of ``target``, all or none. Raises PullError."""
    home = target if target.is_dir() else target.parent
    written = _Written()
    try:
        for path, data in changes.texts.items():
            written.before[path] = path.read_bytes() if path.exists() else None
            if data is None:
                path.unlink()
            else:
                path.parent.mkdir(parents=True, exist_ok=True)
                write_file(path, data)
    except BaseException as error:
        written.take_back()
        if isinstance(error, OSError | WriteError):
            raise PullError(f"“{target}” could not be written: {error}", "It is as it was.") from None
        raise
    for path, data in changes.texts.items():
        if data is None and path.parent != home:
            with suppress(OSError):
                path.parent.rmdir()
    return Pulled(
        _relative(home, {path: None for path, data in changes.texts.items() if data is not None}),
        _relative(home, {path: None for path, data in changes.texts.items() if data is None}),
        _relative(home, {path: None for path in changes.anew if changes.texts.get(path) is not None}),
        tuple(changes.changed_tasks),
    )


def _relative(home: Path, paths: Mapping[Path, None]) -> tuple[str, ...]:
    return tuple(sorted(path.relative_to(home).as_posix() for path in paths))


__all__ = ["PullError", "Pulled", "pull", "write_changes"]
