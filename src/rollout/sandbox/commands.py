"""Commands as an environment declares them: which test runner each starts, and what is told of how it ended."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from json import loads
from typing import Any, get_args

from rollout.sandbox import Ended, Limits
from rollout.sandbox.witness import RunnerName

EXIT_STATUS = "exit-status"
"""The report of a command that has none but its exit status."""

_TOLD_HEAD, _TOLD_TAIL = 4_000, 12_000

_ERROR = re.compile(
    r"(?:^E?[ \t]*|: )((?:[\w.]*(?:Error|Exception)\b.*?: |No module named |(?<=^E {7})assert ).*)",
    re.MULTILINE,
)

_BARE = ("pytest", "py.test", "jest", "vitest")
_PREFIXES = (
    "corepack",
    "npx",
    "pnpm",
    "yarn",
    "exec",
    "uv",
    "run",
    "poetry",
    "bunx",
    "dlx",
    "--no-install",
    "--yes",
    "-y",
    "--",
)

# How long runners say they took, and where Python says an object lies: what differs although the same happened. Nothing
# that a test says itself looks like this.
_UNSTEADY = re.compile(
    r"(?:(?<= in )\d+\.\d+s(?: \(\d+:\d\d:\d\d\))?(?=$| =)|(?<=\()\d+(?:\.\d+)? ?m?s(?=\)$)|(?<=duration_ms )[\d.]+"
    r"|(?<=duration_ms: )[\d.]+|(?<=^Time:        )[\d.]+ m?s.*|(?<=Duration  )[\d.]+m?s.*|(?<=Start at  )[\d:]+"
    r"|(?<=\S )\d+(?:\.\d+)?ms(?=$)|(?<= at )0x[0-9a-f]{6,16}(?=>))",
    re.MULTILINE,
)


class CommandError(ValueError):
    """A command that cannot be run; its text is a sentence."""


@dataclass(frozen=True, slots=True)
class Command:
    """A command line for a shell, with its limits; ``report`` is the test runner it starts, or ``exit-status``."""

    line: str
    description: str = ""
    report: str = EXIT_STATUS
    limits: Limits = field(default_factory=Limits)
    variables: Mapping[str, str] = field(default_factory=dict)


def read_command(name: str, written: Any, files: Mapping[str, str] | None = None) -> Command:
    """A command as it stands in ``commands``. ``files`` has the package.json that says what ``npm test`` means.

    Raises CommandError.
    """
    if isinstance(written, str):
        written = {"command": written}
    line = written.get("command") if isinstance(written, dict) else None
    if not isinstance(line, str) or not line.strip():
        raise CommandError(f"The command “{name}” has no command line.")
    if "\0" in line:
        raise CommandError(f"The command “{name}” has a null character in its command line.")
    report = written.get("report")
    if report is None:
        report = infer_report(line, files or {})
    elif report not in (*get_args(RunnerName), EXIT_STATUS):
        raise CommandError(f"The command “{name}” has a report “{report}”, which there is not.")
    limits, timeout = Limits(), written.get("timeout")
    if timeout is not None:
        limits = replace(limits, seconds=float(timeout))
    variables = {str(key): str(value) for key, value in (written.get("env") or {}).items()}
    return Command(line, str(written.get("description") or ""), report, limits, variables)


def infer_report(line: str, files: Mapping[str, str]) -> str:
    """The test runner that a command line starts, or ``exit-status`` where it starts none that is known."""
    words = _last_command(line)
    while words and re.fullmatch(r"[A-Za-z_]\w*=.*", words[0]):
        words = words[1:]
    if not words:
        return EXIT_STATUS
    program, rest = words[0].rpartition("/")[2], words[1:]
    if program in ("npm", "pnpm", "yarn") and rest[:1] in (["test"], ["t"]):
        return _of_script("test", files)
    if program in ("npm", "pnpm", "yarn") and rest[:1] == ["run"] and len(rest) > 1:
        return _of_script(rest[1], files)
    if re.fullmatch(r"python(\d(\.\d+)?)?", program):
        options = [word for word in rest if word not in ("-B", "-I", "-E", "-s", "-u", "-P")]
        module = options[1] if options[:1] == ["-m"] and len(options) > 1 else None
        return {"pytest": "pytest", "unittest": "unittest"}.get(str(module), EXIT_STATUS)
    if program == "node":
        return "node" if "--test" in rest else EXIT_STATUS
    while words and words[0] in _PREFIXES:
        words = words[1:]
    program = words[0].rpartition("/")[2] if words else ""
    if program == "py.test":
        return "pytest"
    return program if program in _BARE else EXIT_STATUS


def hidden_report(line: str, files: Mapping[str, str]) -> str | None:
    """The test runner that a line starts, but not as its last command, so that it has no report; None if none.

    So it is in ``pytest | tail`` and ``pytest || true``, and in ``pytest && ruff check`` too: an exit status of 0 does
    not say that a test ran.
    """
    if infer_report(line, files) != EXIT_STATUS:
        return None
    for part in re.split(r"&&|\|\||[;|&(){}\n]", re.sub(r"\d?[<>]+(?:&\d|\s*\S+)", " ", line)):
        if (found := infer_report(part.strip(), files)) != EXIT_STATUS:
            return found
    return None


def _last_command(line: str) -> list[str]:
    """The words of a line's last command; none where what it prints or how it ends goes elsewhere."""
    try:
        words = list(shlex.shlex(line, posix=True, punctuation_chars=True))
    except ValueError:
        return []
    last: list[str] = []
    for word in words:
        if word in ("&&", ";"):
            last = []
        elif word and set(word) <= set("();<>|&"):
            return []
        else:
            last.append(word)
    # shlex parts words with characters that it does not know; the words as a shell has them are in the text itself.
    tail = re.split(r"&&|;", line)[-1]
    try:
        return shlex.split(tail) if last else []
    except ValueError:
        return []


def _of_script(name: str, files: Mapping[str, str]) -> str:
    try:
        script = loads(files.get("package.json", ""))["scripts"][name]
    except (ValueError, KeyError, TypeError):
        return EXIT_STATUS
    return infer_report(script, {}) if isinstance(script, str) else EXIT_STATUS


def told(ended: Ended) -> dict[str, Any]:
    """What of a command's end is told to an agent and kept on a trace: ``exitStatus``, ``stopped``, ``output``.

    How long things took is left out of the output, so that the same is told when the same happened.
    """
    output = steady(ended.output)
    if len(output) > _TOLD_HEAD + _TOLD_TAIL:
        left_out = len(output) - _TOLD_HEAD - _TOLD_TAIL
        output = f"{output[:_TOLD_HEAD]}\n[… {left_out} characters left out …]\n{output[-_TOLD_TAIL:]}"
    found: dict[str, Any] = {"exitStatus": ended.status}
    if ended.stopped is not None:
        found["stopped"] = ended.stopped
    return {**found, "output": output}


def telling_line(output: str) -> str | None:
    """The last line of a command's output that names an error, or None."""
    found = _ERROR.findall(output)
    return found[-1].strip() if found else None


def steady(output: str) -> str:
    """A command's output without durations and addresses."""
    return _UNSTEADY.sub("…", output)


__all__ = [
    "EXIT_STATUS",
    "Command",
    "CommandError",
    "hidden_report",
    "infer_report",
    "read_command",
    "steady",
    "telling_line",
    "told",
]
