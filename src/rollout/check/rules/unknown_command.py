"""A `command_passes` primitive names a command that is not among `commands`.

`command` is the name of one of `config.commands`, or a command line. A single word that is no such name is run as a
program of that name, which most likely does not exist, so that no rollout passes.

Before:

    commands: {test: python -m pytest -q}
    # verifier
    - {name: tests, type: command_passes, command: tests}

After:

    - {name: tests, type: command_passes, command: test}
"""

from __future__ import annotations

from collections.abc import Iterator

from rollout.check.finding import Finding
from rollout.check.known import keys_are_known
from rollout.check.subject import Subject
from rollout.check.wording import did_you_mean, quoted
from rollout.diagnostics import Severity

CODE = "RL361"
SEVERITY = Severity.ERROR


def check(subject: Subject) -> Iterator[Finding]:
    if subject.template != "code-editing" or not keys_are_known(subject, "config", "commands"):
        return
    commands = subject.config.get("commands") or {}
    for primitive in subject.primitives:
        command = primitive.text("command")
        if primitive.value.get("type") != "command_passes" or not command or len(command.split()) != 1:
            continue
        if command not in commands:
            yield Finding(
                (*primitive.route, "command"),
                f"There is no command {quoted(command)} in config.commands.",
                did_you_mean(command, tuple(commands), kind="commands")
                or "Declare it under commands, or write the whole command line.",
            )
