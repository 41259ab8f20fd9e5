"""A change of an environment's files as a model proposes it: made on a copy, checked and proved there, then taken over.

What the model left as it was stays byte for byte: comments, ids, solutions, the split over files.
"""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from rollout.check import check
from rollout.check.report import environment_in
from rollout.compile import Compiled, compile_environment
from rollout.compile.change import Difference
from rollout.compile.diff import diff
from rollout.compile.record import RecordError, find_home, with_solution
from rollout.compile.refold import Refolded, RefoldError, refold
from rollout.diagnostics import Diagnostic, Severity
from rollout.environment import Environment, Task
from rollout.platform.drafting import SECONDS_TO_PROVE, sandboxed
from rollout.platform.pull import PullError, write_changes
from rollout.scratch import scratch
from rollout.source.document import Document
from rollout.source.folder import read_file, read_folder
from rollout.source.layout import ENVIRONMENT_FILES

_NOT_COPIED = (".git", ".rollout")


class RefineError(Exception):
    """A change that is not made; the text is a sentence, ``hint`` the way out. The files are as they were.

    ``diagnostics`` are those of the files as they would have been."""

    def __init__(
        self, sentence: str, hint: str | None = None, *, diagnostics: tuple[Diagnostic, ...] = ()
    ) -> None:
        super().__init__(sentence)
        self.hint = hint
        self.diagnostics = diagnostics


@dataclass(frozen=True, slots=True)
class Refined:
    """The copy with the change in it, which holds. ``anew`` are the files that lost their comments."""

    difference: Difference
    compiled: Compiled
    diagnostics: tuple[Diagnostic, ...]
    anew: tuple[str, ...]


@dataclass(slots=True)
class Workplace:
    """A copy of an environment's files, taken when it was read. ``place`` is its folder or its one file."""

    original: Path
    label: str
    copy: Path
    environment: Environment
    before: dict[Path, bytes] = field(default_factory=dict)

    def change(self, wanted: Compiled, proposed: list[Task]) -> Refined:
        """Makes the copy say ``wanted``. ``proposed`` are its tasks with the solutions of whoever wrote it.

        A solution that is there stays, as long as it still solves its task. Raises RefineError.
        """
        try:
            changes = refold(self._read(), wanted)
            write_changes(self.copy, changes)
        except (RefoldError, PullError, ValueError) as error:
            raise RefineError(f"“{self.original}” cannot be changed file by file: {error}") from None
        if compile_environment(environment_in(self._read())).digest != wanted.digest:
            raise RefineError(
                f"“{self.original}” cannot be changed file by file: its files would say something else."
            )
        self._solve(proposed, set(changes.changed_tasks), anyway=False)
        found, holds = self._proved()
        if not holds:
            self._solve(proposed, set(), anyway=True)
            found, holds = self._proved()
        if not holds:
            raise RefineError("With this change it does not hold.", diagnostics=found)
        after = environment_in(self._read())
        anew = tuple(sorted(path.relative_to(self._home(self.copy)).as_posix() for path in changes.anew))
        return Refined(diff(self.environment, after), compile_environment(after), found, anew)

    def take_over(self) -> list[str]:
        """Writes what differs in the copy over the original; the paths. Raises RefineError, also where the original
        was changed meanwhile."""
        now = _contents(self.copy)
        texts: dict[Path, bytes | None] = {}
        for path in {*self.before, *now}:
            if self.before.get(path) != now.get(path):
                texts[self._home(self.original) / path] = now.get(path)
        held = _contents(self.original)
        if any(held.get(path) != data for path, data in self.before.items()) or set(held) - set(self.before):
            raise RefineError(f"“{self.original}” was changed meanwhile.", "Say this again.")
        try:
            pulled = write_changes(self.original, Refolded(texts))
        except PullError as error:
            raise RefineError(str(error), error.hint) from None
        return sorted({*pulled.written, *pulled.removed})

    def put_into(self, target: Path) -> list[str]:
        """Makes the folder ``target`` of the copy; the paths. Raises RefineError."""
        if self.copy.is_dir():
            files = _contents(self.copy)
        else:
            files = {Path(f"environment{self.copy.suffix}"): self.copy.read_bytes()}
        try:
            target.mkdir(parents=True)
            return list(
                write_changes(target, Refolded({target / path: data for path, data in files.items()})).written
            )
        except (PullError, OSError) as error:
            raise RefineError(f"“{target}” cannot be written: {error}") from None

    def _solve(self, proposed: list[Task], changed: set[str], *, anyway: bool) -> None:
        """Writes the solutions that were proposed for tasks that are new, or say something else than what they had one
        for; ``anyway``, for all."""
        known = {task.content for task in self.environment.tasks}
        tasks = environment_in(self._read()).tasks
        for index, (task, other) in enumerate(zip(tasks, proposed, strict=True)):
            is_stale = bool(changed & {task.id, str(index)})
            if other.solution is None or task.solution == other.solution:
                continue
            is_old = task.content in known or task.solution is not None
            if is_old and not is_stale and not anyway:
                continue
            try:
                with_solution(find_home(self._read(), index), other.solution).write()
            except RecordError as error:
                raise RefineError(
                    f"The solution of “{task.key}” cannot be written: {error}", error.hint
                ) from None

    def _proved(self) -> tuple[tuple[Diagnostic, ...], bool]:
        from rollout.engine.prove import diagnose, prove

        report = check(self._read())
        if not report.ok:
            return tuple(report.diagnostics), False
        try:
            with sandboxed():
                proof = asyncio.run(asyncio.wait_for(prove(report.environment()), SECONDS_TO_PROVE))
        except TimeoutError:
            raise RefineError(f"It could not be proved within {SECONDS_TO_PROVE:g} s.") from None
        found = [*report.diagnostics, *diagnose(report.document, proof)]
        found.sort(key=lambda diagnostic: diagnostic.sort_key)
        is_wrong = any(each.severity is Severity.ERROR for each in found)
        return tuple(found), proof.holds and not is_wrong

    def _read(self) -> Document:
        # Whoever is told of a line looks for it in the original.
        return (read_folder if self.copy.is_dir() else read_file)(self.copy, self.label)

    @staticmethod
    def _home(place: Path) -> Path:
        return place if place.is_dir() else place.parent


@contextmanager
def workplace(document: Document, environment: Environment) -> Iterator[Workplace]:
    """A copy of the folder, or of the one file, that an environment is in; it is gone afterwards."""
    file = document.place.source.path
    place = document.root if file.name in ENVIRONMENT_FILES else file
    with scratch("refine") as made:
        # Under its own name: where no slug is given, it is that.
        copy = Path(made).resolve() / place.resolve().name
        if place.is_dir():
            shutil.copytree(place, copy, ignore=shutil.ignore_patterns(*_NOT_COPIED))
        else:
            shutil.copy(place, copy)
        yield Workplace(place, document.label, copy, environment, _contents(copy))


def _contents(place: Path) -> dict[Path, bytes]:
    if place.is_file():
        return {Path(place.name): place.read_bytes()}
    return {
        path.relative_to(place): path.read_bytes()
        for path in place.rglob("*")
        if path.is_file() and not set(path.relative_to(place).parts) & set(_NOT_COPIED)
    }


__all__ = ["RefineError", "Refined", "Workplace", "workplace"]
