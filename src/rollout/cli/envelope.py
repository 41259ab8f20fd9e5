"""The one envelope that `--json` prints: of a command's data, or of what kept it from having any."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import typer

from rollout.diagnostics._visible import dump_json

VERSION = 1


@dataclass(slots=True)
class _Due:
    """An envelope that has been asked for and is not written yet, and what has been told meanwhile."""

    command: str
    message: str | None = None
    help: str | None = None
    diagnostics: list[Any] = field(default_factory=list)

    def error(self) -> dict[str, Any]:
        """What has been told, as an error; what is in it is not kept any longer."""
        message = self.message or "There are errors in what was read."
        error = {"message": message, "help": self.help, "diagnostics": self.diagnostics}
        self.message, self.help, self.diagnostics = None, None, []
        return error


_due: _Due | None = None


def write_data(command: str, data: Any) -> None:
    """Writes the envelope of what came of a command."""
    _write({"schema_version": VERSION, "command": command, "data": data})


def keep_error(sentence: str, hint: str | None) -> None:
    """Keeps a sentence that people are told, in case it is what the command ends with."""
    if _due is not None:
        _due.message, _due.help = sentence, hint


def keep_diagnostics(found: Sequence[Any]) -> None:
    """Keeps diagnostics that people are shown, each as `--format json` has it."""
    if _due is not None:
        _due.diagnostics += found


def take_error() -> dict[str, Any] | None:
    """What one of several ended with, for its place in the data; None where no envelope is due."""
    return None if _due is None else _due.error()


def is_due() -> bool:
    """Whether an envelope has been asked for and is not written yet."""
    return _due is not None


@contextmanager
def envelope_of(command: str) -> Iterator[None]:
    """Sees to it that `command` ends in one envelope: of its error, where it has written none of its data."""
    global _due
    _due = _Due(command)
    try:
        yield
    except (typer.Abort, KeyboardInterrupt):
        keep_error("Interrupted.", None)
        _write_error(_due)
        raise
    except OSError as error:
        if _due is not None and _due.message is None:
            name = f"“{error.filename}”: " if isinstance(error.filename, str) else ""
            keep_error(f"{name}{error.strerror or error}.", None)
        _write_error(_due)
        raise
    except typer.Exit as ended:
        if ended.exit_code:
            _write_error(_due)
        raise
    except Exception:
        if _due is not None and _due.message is not None:
            _write_error(_due)
        raise
    finally:
        _due = None


def _write_error(due: _Due | None) -> None:
    if due is None:
        return
    _write({"schema_version": VERSION, "command": due.command, "error": due.error()})


def _write(envelope: dict[str, Any]) -> None:
    global _due
    _due = None
    write_json(dump_json(envelope).encode())


def write_json(text: bytes) -> None:
    """Writes JSON to stdout, of which nothing is a command to the runner of GitHub Actions."""
    if os.environ.get("GITHUB_ACTIONS") == "true":
        text = text.replace(b"##[", b"#\\u0023[")
    sys.stdout.buffer.write(text)


__all__ = [
    "envelope_of",
    "is_due",
    "keep_diagnostics",
    "keep_error",
    "take_error",
    "write_data",
    "write_json",
]
