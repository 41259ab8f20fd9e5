"""The file that a report is written to: taken before the run costs anything, and there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from secrets import token_hex
from tempfile import TemporaryDirectory
from typing import IO

from rollout.analysis.report import ReportError
from rollout.engine.run_folder import ROLLOUTS, RUN, SUMMARY

_BEGINNING = b'<!doctype html>\n<html lang="en" class="rollout-report">'


class Target:
    """A file for a report. Made by :meth:`claim`; :meth:`close` leaves nothing behind but a report that was written."""

    def __init__(self, path: Path, beside: Path) -> None:
        self.path = path
        self._beside = beside
        self._spool: TemporaryDirectory[str] | None = None

    @classmethod
    def claim(cls, name: str, *runs: Path) -> Target:
        """The file of that name, or the one that a link of that name leads to; folders above it are made.

        A report that is there is replaced at the end. ``runs`` are the folders of runs, or the files of their rollouts.
        Raises ReportError where none can be written, for a file that is something else than a report, and for one that
        the run itself is kept in.
        """
        path = Path(name)
        if not name or name == "-" or name.endswith("/"):
            raise ReportError("A report is written to a file.", "Give its name, such as report.html.")
        try:
            path = _without_links(path, name)
            for run in runs:
                _refuse_run(path, run.resolve(), name)
            path.parent.mkdir(parents=True, exist_ok=True)
            _refuse_others(path, name)
            beside = path.parent / f".rollout-report-{token_hex(4)}.new"
            beside.open("xb").close()
        except ReportError:
            raise
        except FileExistsError:
            raise ReportError(f"“{name}” cannot be written: “{path.parent}” is no folder.") from None
        except OSError as error:
            raise ReportError(f"“{name}” cannot be written: {error.strerror}.") from None
        except ValueError:
            raise ReportError(f"“{name}” cannot be written: a name has no zero byte.") from None
        return cls(path, beside)

    @property
    def lines(self) -> Path:
        """A file for the lines of a run that no folder keeps; it is gone after :meth:`close`."""
        if self._spool is None:
            self._spool = TemporaryDirectory(prefix="rollout-report-")
        return Path(self._spool.name) / "rollouts.jsonl"

    def write(self, page: Callable[[IO[bytes]], None]) -> None:
        """Writes the report, by ``page``, in the place of what was there.

        Raises ReportError; then what was there is as it was. What came there since the file was claimed is no more
        replaced than what was there before.
        """
        try:
            with self._beside.open("wb") as stream:
                page(stream)
                stream.flush()
                os.fsync(stream.fileno())
            _refuse_others(self.path, str(self.path))
            self._beside.replace(self.path)
        except OSError as error:
            raise ReportError(f"“{self.path}” cannot be written: {error.strerror}.") from None

    def close(self) -> None:
        """Takes away what stands beside it."""
        self._beside.unlink(missing_ok=True)
        if self._spool is not None:
            self._spool.cleanup()


def _without_links(path: Path, name: str) -> Path:
    try:
        found = path.resolve()
        if not found.is_symlink():
            return found
    except RuntimeError:
        # Python before 3.13 says so in this way.
        pass
    raise ReportError(f"“{name}” is a link that leads back to itself.")


def _refuse_run(path: Path, run: Path, name: str) -> None:
    """``run`` may be yet to be made, and so the folders above it."""
    kept = (run, *run.parents, *(run / each for each in (RUN, ROLLOUTS, SUMMARY)))
    if path in kept and not path.is_dir():
        raise ReportError(f"“{name}” is where the run itself is kept.", "Give another name.")


def _refuse_others(path: Path, name: str) -> None:
    if path.is_dir():
        raise ReportError(f"“{name}” is a folder.", "Give the name of a file in it.")
    if not path.exists():
        return
    if not path.is_file():
        raise ReportError(f"“{name}” is no file that a report could take the place of.")
    with path.open("rb") as file:
        beginning = file.read(len(_BEGINNING))
    if beginning not in (b"", _BEGINNING):
        raise ReportError(
            f"There is something else in “{name}” than a report.", "Give another name, or take it away."
        )


__all__ = ["Target"]
