"""How commands speak: exit codes, the JSON envelope on stdout, sentences on stderr, colour where it is wanted."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from enum import IntEnum
from io import FileIO
from typing import Any, NoReturn, TextIO

import typer

from rollout.cli.envelope import is_due, keep_diagnostics, keep_error, write_data, write_json
from rollout.diagnostics import Diagnostic
from rollout.diagnostics._visible import visible
from rollout.family import member


class Exit(IntEnum):
    """What the exit code says."""

    FINE = 0
    FINDINGS = 1
    """Findings, a regression, or tasks that failed, broke or were not done."""
    USAGE = 2
    """Wrong usage, or a spec that cannot be read."""
    PLATFORM = 3
    """The platform, a file that cannot be written at the end, or a fault of our own."""
    INTERRUPTED = 130


# What the runner of GitHub Actions takes for a command: `::` where a line begins, blanks aside, and `##[` anywhere.
_COMMAND = re.compile(r"(?<![^\r\n])(\s*):(?=:)|#(?=#\[)")


# Colours, which whoever made the text asked for, and whatever else a terminal obeys but line breaks and tabs.
_OBEYED = re.compile(r"\x1b\[[\d;]*m|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def show(text: str, *, commands: bool = False) -> None:
    """Writes `text` and a line break to stdout, colours included: whoever made it asked :func:`wants_color`.

    Nothing else in it is a command to the terminal, nor on GitHub Actions to the runner, unless `commands` says that it
    is meant to be.
    """
    typer.echo(_inert(text if commands else powerless(text)), color=True)


def note(text: str) -> None:
    """Writes a sentence for people to stderr, where nothing is a command either."""
    typer.echo(_inert(powerless(text)), err=True, color=True)


def discard(stream: TextIO | FileIO) -> None:
    """Has a stream that nobody reads any more take everything, and keep nothing."""
    # What is still buffered would fail once more when the interpreter closes the stream.
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _inert(text: str) -> str:
    return _OBEYED.sub(lambda found: found[0] if len(found[0]) > 1 else visible(found[0]), text)


def powerless(text: str) -> str:
    """`text` for the log of GitHub Actions, with a blank in what its runner would obey: models and specs wrote it."""
    if os.environ.get("GITHUB_ACTIONS") != "true" or ("::" not in text and "##[" not in text):
        return text
    return _COMMAND.sub(lambda found: f"{found[0]} ", text)


def show_json(command: str, data: Any) -> None:
    """Writes the one envelope that every `--json` prints: `{"schema_version": 1, "command": …, "data": …}`."""
    write_data(command, data)


def fail(sentence: str, hint: str | None = None, *, code: Exit = Exit.USAGE) -> NoReturn:
    """Ends the command with a sentence on stderr, and the way out below it."""
    tell_error(sentence, hint)
    raise typer.Exit(code)


def tell_error(sentence: str, hint: str | None = None) -> None:
    """Writes what went wrong to stderr, and the way out below it; line breaks in names become visible.

    A secret that a spec holds may be in either, and is not shown.
    """
    from rollout.check.masking import without_secrets_in

    sentence, hint = without_secrets_in(sentence), without_secrets_in(hint) if hint else None
    keep_error(sentence, hint)
    note(f"error: {visible(sentence)}")
    if hint:
        note(f"  help: {visible(hint)}")


def tell_found(diagnostics: Sequence[Diagnostic], *, checked: Sequence[str]) -> None:
    """Shows diagnostics that keep a command from its work on stderr, as text."""
    if is_due():
        keep_diagnostics(as_json(diagnostics, checked=checked))
    note(render(diagnostics, "text", color=wants_color(sys.stderr), checked=checked).rstrip("\n"))


def wants_color(stream: TextIO | None = None) -> bool:
    """Whether to colour what goes to `stream` (stdout): NO_COLOR and FORCE_COLOR decide, else a terminal does."""
    stream = stream or sys.stdout
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def render(
    diagnostics: Sequence[Diagnostic], output_format: str, *, color: bool, checked: Sequence[str]
) -> str:
    """The diagnostics in one of the formats of `rollout.diagnostics`; `checked` labels what was looked at.

    Whatever they quote of a spec, a secret in it is not shown.
    """
    from rollout.check.masking import without_secrets

    renderer = member("rollout.diagnostics", output_format)
    if renderer is None:
        raise KeyError(output_format)
    text: str = renderer.render(without_secrets(diagnostics), color=color, checked=checked)
    return text


def as_json(diagnostics: Sequence[Diagnostic], *, checked: Sequence[str]) -> list[dict[str, Any]]:
    """The diagnostics, each as `--format json` has it."""
    import json

    rendered = json.loads(render(diagnostics, "json", color=False, checked=checked))
    found: list[dict[str, Any]] = rendered["diagnostics"]
    return found


__all__ = [
    "Exit",
    "as_json",
    "discard",
    "fail",
    "note",
    "render",
    "show",
    "show_json",
    "tell_error",
    "tell_found",
    "visible",
    "wants_color",
    "write_json",
]
