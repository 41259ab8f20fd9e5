"""Reads a run's folder, whose layout :mod:`rollout.engine.journal` describes."""

from __future__ import annotations

from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from rollout.engine.rollout_line import Key, dump, key_of, read_line
from rollout.source.file import read_regular

RUN, ROLLOUTS, SUMMARY = "run.json", "rollouts.jsonl", "summary.json"
VERSION = 1
"""The version of the folder's layout, which stands in ``run.json``."""


class JournalError(ValueError):
    """A folder that cannot be written to or read as a run; its text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str | None = None) -> None:
        super().__init__(sentence)
        self.hint = hint


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


__all__ = [
    "ROLLOUTS",
    "RUN",
    "SUMMARY",
    "VERSION",
    "Ended",
    "JournalError",
    "index",
    "read_config",
    "read_rollouts",
    "read_summary",
    "rollouts_file",
    "run_id",
]
