"""A character that cannot be seen stands in a file as it is.

Control characters (a bell, an escape, a backspace, a form feed) come from terminals and broken copies; YAML and TOML
forbid them, because a reader of the file cannot know that they are there. Delete the character. Where it is meant,
write it as an escape in double quotes.

Before:

    prompt: ␛[1mBold        (␛ is the character U+001B itself)

After:

    prompt: "\\u001b[1mBold"
"""

from __future__ import annotations

from rollout.diagnostics import Severity
from rollout.source.place import Problem

CODE = "RL105"
SEVERITY = Severity.ERROR


def describe(problem: Problem) -> tuple[str, str | None]:
    code = problem.facts["code"]
    if code == 0x0D:
        return (
            "A carriage return (U+000D) stands here without a line feed after it.",
            "End lines with a line feed, or with both.",
        )
    escape = f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
    return (
        f"The character U+{code:04X} cannot be seen and may not stand in the file as it is.",
        f"Delete it; where it is meant, write {escape} inside double quotes.",
    )


__all__ = ["CODE", "SEVERITY", "describe"]
