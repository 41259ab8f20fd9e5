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
import json
import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import orjson

from rollout.engine import Failure, Outcome, Rollout, Verdict, stored
from rollout.engine.batch import Done
from rollout.language.exact_json import load
from rollout.source.file import read_regular

RUN, ROLLOUTS, SUMMARY = "run.json", "rollouts.jsonl", "summary.json"
VERSION = 1
"""The version of the folder's layout, which stands in ``run.json``."""

_MOST_WAITING = 512
_SECONDS_TO_GATHER = 0.02

_SEPARATORS = tuple((text.encode(), f"\\u{ord(text):04x}".encode()) for text in "\x85\u2028\u2029")


class JournalError(ValueError):
    """A folder that cannot be written to or read as a run; its text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str | None = None) -> None:
        super().__init__(sentence)
        self.hint = hint


class Key(NamedTuple):
    """Which rollout: its task's key, and its trial from 0."""

    task: str
    trial: int


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


class Line(NamedTuple):
    """A finished rollout, and its line."""

    done: Done
    data: bytes


def encode(done: Done) -> Line:
    """A finished rollout with its line, which ends in a line break.

    A rollout that JSON has no form for, as when a tool of somebody's leaves an object of Python in the state, becomes
    an error that is charged to the environment; it stops no other.
    """
    try:
        return Line(done, _line(done))
    except (TypeError, ValueError, RecursionError) as error:
        sentence = f"The rollout holds what JSON cannot say: {error}."
        failure = Failure(sentence[:500], "environment")
        trace = replace(
            done.rollout.trace,
            messages=(),
            calls=(),
            initial_state={},
            final_state={},
            exchanges=(),
            ending="failure",
            failure=failure,
        )
        broken = Rollout(trace, Verdict(Outcome.ERROR, None, failure=failure))
        done = replace(done, rollout=broken)
        return Line(done, _line(done))


def _line(done: Done) -> bytes:
    rollout, task = done.rollout, done.job.task
    return dump(
        {
            "schema_version": stored.VERSION,
            "task": {"content": task.content, "split": task.split},
            "trace": rollout.trace,
            "verdict": rollout.verdict,
            "earlier": done.earlier,
        }
    )


def dump(value: Any) -> bytes:
    """A JSON value, dataclasses in it as objects, on a line of its own.

    Raises TypeError, ValueError or RecursionError for what JSON cannot say.
    """
    try:
        data = orjson.dumps(value, default=_plain, option=orjson.OPT_APPEND_NEWLINE)
        # Some readers take these for the end of a line.
        for separator, escaped in _SEPARATORS:
            if separator in data:
                data = data.replace(separator, escaped)
        return data
    except TypeError:
        # Whole numbers past 64 bits, and halves of characters.
        text = json.dumps(value, default=_plain, separators=(",", ":"), allow_nan=False)
        data = text.encode() + b"\n"
        # A line that could be written and not read would keep the run from being gone on with.
        read_line(data)
        return data


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {each.name: getattr(value, each.name) for each in fields(value)}
    if isinstance(value, set | frozenset):
        return sorted(value)
    raise TypeError(f"{value!r} is not JSON")


def read_line(data: bytes) -> Any:
    """The value of a line. Raises ValueError for what is no JSON."""
    try:
        return load(data)
    except ValueError:
        # The fast reader refuses halves of characters, and what is nested a thousand levels deep.
        try:
            return json.loads(data)
        except RecursionError:
            raise ValueError("It is nested too deeply.") from None


def key_of(line: Any) -> Key | None:
    """Which rollout a line is of; None when it is none."""
    trace = line.get("trace") if isinstance(line, dict) else None
    if not isinstance(trace, dict) or not isinstance(line.get("verdict"), dict):
        return None
    task, trial = trace.get("task"), trace.get("trial", 0)
    return Key(task, trial) if isinstance(task, str) and isinstance(trial, int) else None


def index(path: Path) -> tuple[dict[Key, tuple[int, int]], int]:
    """Where the line of each rollout stands, the later where there are two, and where the last whole line ends.

    Raises JournalError for a whole line that is no rollout.
    """
    places: dict[Key, tuple[int, int]] = {}
    end = 0
    with path.open("rb") as file:
        for number, data in enumerate(file, 1):
            key = _key_of_bytes(data)
            if key is None:
                if _is_torn(data) and not file.read(1):
                    break
                raise JournalError(
                    f"Line {number} of “{path}” is no rollout.",
                    "Take that line out, and its rollout is done again.",
                )
            places[key] = (end, len(data))
            end += len(data)
    return places, end


def _is_torn(data: bytes) -> bool:
    """Whether a last line was cut short, or filled with zeros by the file system; it was never counted as done."""
    try:
        read_line(data)
    except ValueError:
        return True
    return not data.endswith(b"\n")


def _key_of_bytes(data: bytes) -> Key | None:
    if not data.endswith(b"\n"):
        return None
    try:
        return key_of(read_line(data))
    except ValueError:
        return None


def rollouts_file(path: Path) -> Path:
    """The file of lines that a run's folder has, or that ``path`` is. Raises JournalError where none can be read."""
    way_out = f"Give a run's folder, or its {ROLLOUTS}."
    try:
        file = path / ROLLOUTS if path.is_dir() else path
        if not file.is_file():
            raise JournalError(f"There are no rollouts in “{path}”.", way_out)
        file.open("rb").close()
    except OSError as error:
        raise JournalError(f"“{path}” cannot be read: {error.strerror}.", way_out) from None
    return file


def read_rollouts(path: Path) -> Iterator[dict[str, Any]]:
    """The rollouts of a run's folder, or of its ``rollouts.jsonl``, each once and in the order of the file.

    A torn last line is passed over. Raises JournalError when there are none.
    """
    file = rollouts_file(path)
    places, _ = index(file)
    with file.open("rb") as opened:
        for start, length in sorted(places.values()):
            opened.seek(start)
            line: dict[str, Any] = read_line(opened.read(length))
            yield line


def run_id(path: Path) -> str:
    """A short digest by which the run of a folder, or of its ``rollouts.jsonl``, is told from others.

    It is of the trace that the run had first, which stays where it is: a run that goes on keeps its id, and so does one
    that is moved or judged again. Raises JournalError when there are no rollouts.
    """
    with rollouts_file(path).open("rb") as file:
        first = file.readline()
    return sha256(dump(read_line(first)["trace"])).hexdigest()[:12]


def read_config(folder: Path) -> dict[str, Any]:
    """What stands in ``run.json``. Raises JournalError when it cannot be read."""
    try:
        config = read_line(read_regular(folder / RUN))
    except (OSError, ValueError):
        config = None
    if not isinstance(config, dict) or config.get("schema_version") != VERSION:
        raise JournalError(
            f"“{folder / RUN}” is not of a run that this version can go on with.", "Begin a new one."
        )
    return config


class Ended(NamedTuple):
    """How a run ended: how many rollouts it has and was to have, and why it was stopped, None unless it was."""

    all: int
    planned: int
    stopped: str | None


def read_summary(folder: Path) -> Ended | None:
    """What ``summary.json`` says of how a run ended; None for one that is under way, or was broken off.

    Raises JournalError for one that cannot be read: without it, a run that was stopped would look like a whole one.
    """
    path = folder / SUMMARY
    try:
        summary = read_line(read_regular(path))
        stopped = summary["stopped"]
        told = summary["all"], summary["planned"], None if stopped is None else stopped["sentence"]
    except FileNotFoundError:
        return None
    except (OSError, KeyError, TypeError, ValueError):
        told = None
    match told:
        case (int(), int(), str() | None):
            return Ended(*told)
    raise JournalError(
        f"“{path}” is no summary of a run.",
        "Take it away, and it is not known how many rollouts there were to be and why the run was stopped.",
    )


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


__all__ = [
    "ROLLOUTS",
    "RUN",
    "SUMMARY",
    "VERSION",
    "Ended",
    "Journal",
    "JournalError",
    "Key",
    "Line",
    "Opened",
    "dump",
    "encode",
    "index",
    "key_of",
    "read_config",
    "read_line",
    "read_rollouts",
    "read_summary",
    "rollouts_file",
    "run_id",
    "write_whole",
]
