"""The folder of a run: what it was run with, each rollout as soon as it is finished, and a summary at the end.

``run.json`` is the resolved configuration. ``rollouts.jsonl`` has a line a rollout, as UTF-8 JSON: ``trace`` and
``verdict`` as in :mod:`rollout.engine.stored`; ``earlier``, the attempts that failed before; and ``task``, its
``content`` (a digest, by which it is found in another run) and ``split``. Lines are only ever added, a line is written
in one piece, and a rollout counts as done when its line is on the disk. A rollout is known by its task's key and its
trial; where there are two lines of one, the later counts. ``summary.json`` is written when the run ends.

The folder is locked while a process writes to it. The lock belongs to the process, so nothing is left of it when the
process is killed.
"""

from __future__ import annotations

import asyncio
import errno
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from rollout.engine.rollout_line import Key, read_line
from rollout.engine.run_folder import ROLLOUTS, RUN, SUMMARY, VERSION, JournalError, index, read_config

_MOST_WAITING = 512
_SECONDS_TO_GATHER = 0.02


@dataclass(frozen=True, slots=True)
class Opened:
    """A journal that was found: what stands in ``run.json``, where the line of each rollout stands (offset and length),
    and how many bytes of a torn last line were cut off."""

    config: dict[str, Any]
    places: dict[Key, tuple[int, int]]
    torn: int


class Journal:
    """Writes a run's folder. Made by :meth:`begin` or :meth:`go_on`; locked until :meth:`close`."""

    def __init__(self, folder: Path, descriptor: int) -> None:
        self.folder = folder
        self._descriptor = descriptor
        self._waiting: list[tuple[bytes, Callable[[], None] | None]] = []
        self._writer: asyncio.Task[None] | None = None
        self._room = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="rollout-journal")
        self._broken: BaseException | None = None

    @classmethod
    def begin(cls, folder: Path, config: Mapping[str, Any]) -> Journal:
        """A new run in ``folder``, which is made. Raises JournalError when there is a run or anything else already."""
        try:
            if not (folder / RUN).exists() and _holds_more(folder):
                raise JournalError(
                    f"“{folder}” holds something else than a run.",
                    f"Name a folder that is not there yet, such as {folder / 'run'}.",
                )
            folder.mkdir(parents=True, exist_ok=True)
            descriptor = _open_locked(folder)
        except OSError as error:
            raise JournalError(f"“{folder}” cannot be written to: {error.strerror}.") from None
        try:
            if (folder / RUN).exists() or os.fstat(descriptor).st_size:
                raise JournalError(
                    f"There is a run in “{folder}” already.", f"Go on with it: --resume {folder}"
                )
            write_whole(folder / RUN, _indented({"schema_version": VERSION, **config}))
        except BaseException:
            os.close(descriptor)
            raise
        return cls(folder, descriptor)

    @classmethod
    def go_on(cls, folder: Path) -> tuple[Journal, Opened]:
        """The run in ``folder``, to be continued; a torn last line is cut off. Raises JournalError."""
        try:
            if not (folder / RUN).is_file():
                raise JournalError(
                    f"There is no run in “{folder}”: it has no {RUN}.", "A run is begun with --out."
                )
            config = read_config(folder)
            descriptor = _open_locked(folder)
        except OSError as error:
            raise JournalError(f"“{folder}” cannot be written to: {error.strerror}.") from None
        try:
            places, end = index(folder / ROLLOUTS)
            torn = os.fstat(descriptor).st_size - end
            if torn:
                os.ftruncate(descriptor, end)
                os.fsync(descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        return cls(folder, descriptor), Opened(config, places, torn)

    async def add(self, line: bytes, on_disk: Callable[[], None] | None = None) -> None:
        """Adds a line, which ends in a line break; ``on_disk`` is called when it is on the disk.

        Returns before that, unless so many lines wait that memory would grow. Raises OSError when lines before could
        not be written.
        """
        self._raise_broken()
        self._waiting.append((line, on_disk))
        if self._writer is None:
            self._writer = asyncio.create_task(self._write_all())
        while len(self._waiting) > _MOST_WAITING and self._broken is None:
            self._room.clear()
            await self._room.wait()
        self._raise_broken()

    async def flush(self) -> None:
        """Waits until all lines are on the disk. Raises OSError when they cannot be."""
        while self._writer is not None:
            # The writer goes on when whoever waits is cancelled: what is finished is kept.
            await asyncio.shield(self._writer)
        self._raise_broken()

    def summarize(self, summary: Mapping[str, Any]) -> None:
        """Writes the summary, in the place of one that was there."""
        write_whole(self.folder / SUMMARY, _indented(summary))

    def configure(self, config: Mapping[str, Any]) -> None:
        """Writes the configuration anew, as when a run grows."""
        write_whole(self.folder / RUN, _indented({"schema_version": VERSION, **config}))

    def read(self, place: tuple[int, int]) -> dict[str, Any]:
        """The line that stands at a place of :class:`Opened`."""
        data = os.pread(self._descriptor, place[1], place[0])
        line: dict[str, Any] = read_line(data)
        return line

    def close(self) -> None:
        """Gives the folder back. Lines that wait are written first, even where the event loop has ended."""
        self._thread.shutdown()
        try:
            if self._waiting and self._broken is None:
                _append(self._descriptor, b"".join([line for line, _ in self._waiting]))
                self._waiting = []
        finally:
            os.close(self._descriptor)

    def _raise_broken(self) -> None:
        if self._broken is not None:
            raise self._broken

    async def _write_all(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            while self._waiting:
                # To wait for the disk once costs about as much as a turn of a model, for one line or for a hundred.
                await asyncio.sleep(_SECONDS_TO_GATHER)
                # What is handed over is not waiting any more: close() must not write it a second time.
                lines, self._waiting = self._waiting, []
                data = b"".join([line for line, _ in lines])
                await loop.run_in_executor(self._thread, _append, self._descriptor, data)
                self._room.set()
                for _, on_disk in lines:
                    if on_disk is not None:
                        on_disk()
        except Exception as error:
            self._broken = error
        finally:
            self._writer = None
            self._room.set()


def write_whole(path: Path, data: bytes) -> None:
    """Writes a file so that there is, at any moment, all of the old or all of the new one."""
    beside = path.with_name(f".{path.name}.new")
    with beside.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    beside.replace(path)
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _append(descriptor: int, data: bytes) -> None:
    """Writes whole lines and waits for the disk; leaves nothing half-written behind when there is no room."""
    before = os.fstat(descriptor).st_size
    try:
        if os.write(descriptor, data) != len(data):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        os.fsync(descriptor)
    except OSError:
        os.ftruncate(descriptor, before)
        raise


def _holds_more(folder: Path) -> bool:
    """Whether there is anything in a folder but hidden files and the lines of a run that could not begin."""
    if not folder.is_dir():
        return False
    return any(not each.name.startswith(".") and each.name != ROLLOUTS for each in folder.iterdir())


def _open_locked(folder: Path) -> int:
    """The journal's file, locked. The system gives the lock back with the file, however the process ends."""
    descriptor = os.open(folder / ROLLOUTS, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        _lock(descriptor)
    except BlockingIOError:
        os.close(descriptor)
        raise JournalError(
            f"Another process is at work on the run in “{folder}”.", "Wait until it ends, or end it."
        ) from None
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _lock(descriptor: int) -> None:
    try:
        import fcntl
    except ImportError:
        raise JournalError(
            "A run's folder cannot be locked on this system.", "Run without --out, or on Linux or macOS."
        ) from None
    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _indented(value: Mapping[str, Any]) -> bytes:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2 | orjson.OPT_APPEND_NEWLINE)


__all__ = ["Journal", "Opened", "write_whole"]
