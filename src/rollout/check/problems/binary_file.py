"""A file that should hold text holds something else.

It has a zero byte in it, which no text has: an image, an archive, a database or a compiled program. The files of an
environment travel as JSON, which is text. Take the file out, or write down what it holds as text.

Before:

    files/logo.png

After:

    files/logo.svg
"""

from __future__ import annotations

from rollout.check.wording import quoted
from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL103"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    return (
        f"{quoted(problem.span.path)} is no text: there is a zero byte in it here.",
        "An environment holds text only. Take the file out, or replace it with a text file.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
