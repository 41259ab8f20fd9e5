"""A file is text, but not in UTF-8.

All files are read as UTF-8, the encoding that JSON travels in. Other encodings are not guessed at, because a wrong
guess changes what the agent reads without anybody noticing. The place is the first byte that is no UTF-8.
Save the file anew as UTF-8 (every editor can), or convert it: `iconv -f latin1 -t utf-8 old.yaml > new.yaml`.
A byte order mark at the beginning of a UTF-8 file does no harm.

Before:

    name: Caf\\xe9        (one byte, Latin-1)

After:

    name: Café           (two bytes, UTF-8)
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL104"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    encoding = problem.facts.get("encoding")
    name = problem.span.path
    if encoding is not None:
        return (
            f"{quoted(name)} is written in {encoding}; UTF-8 is expected.",
            f"Save it as UTF-8, or convert it: iconv -f {encoding} -t UTF-8 {name}",
        )
    byte = problem.facts["byte"]
    # Bytes from A0 on are letters and signs in Latin-1, and so is most of Windows-1252 below them.
    try:
        letter = bytes([byte]).decode("windows-1252")
        guess = f"In Windows-1252 or Latin-1 it would be {quoted(letter)}. " if letter.isprintable() else ""
    except UnicodeDecodeError:
        guess = ""
    return f"The byte {byte:#04x} here is not UTF-8.", f"{guess}Save the file as UTF-8."


__all__ = ["CODE", "SEVERITY", "describe"]
