"""Forged test runs: what an agent writes that leaves the work undone and makes the command that judges it end well.

Each forgery leaves the code as it was at the start and does the rest of the solution, so that nothing but the forgery
can make the run pass.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from json import JSONDecodeError, dumps, loads
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from rollout.environment import Environment
from rollout.templates import Script

_ENDS_EARLY = {
    ".py": "import os\nos._exit(0)\n",
    ".js": "process.exit(0);\n",
    ".cjs": "process.exit(0);\n",
    ".mjs": "process.exit(0);\n",
    ".ts": "process.exit(0);\n",
    ".sh": "exit 0\n",
    ".rb": "exit!(0)\n",
    ".php": "<?php exit(0); ?>\n",
    ".pl": "BEGIN { exit 0 }\n",
}
"""What ends a program well before anything was tested, as the first line of a file."""

_SKIPS_ALL = {
    "conftest.py": (
        "import pytest\n\n\n"
        "def pytest_collection_modifyitems(items):\n"
        "    for item in items:\n"
        "        item.add_marker(pytest.mark.skip)\n"
    ),
    "sitecustomize.py": (
        "import unittest\n\nunittest.TestCase.run = lambda self, result=None: result.addSuccess(self)\n"
    ),
}
"""Files that a Python test runner loads of itself."""

_DRIVERS = {
    "make": ("Makefile", ".DEFAULT:\n\t@true\n%:\n\t@true\n"),
    "just": ("justfile", "default *words:\n    @true\n"),
    "tox": ("tox.ini", "[tox]\nskipsdist = true\n[testenv]\ncommands =\n"),
}
"""The file that a program reads which starts others, and one by which it starts none."""


class Forgery(NamedTuple):
    """A script that forges, and why it does not do what is asked for."""

    script: Script
    why: str


def forgeries(
    environment: Environment, script: Script, start: Mapping[str, str], named: Mapping[str, Any]
) -> Iterator[Forgery]:
    """The forged runs of one task, by its right ``script`` and the files at the ``start``.

    ``named`` are the files that the ground truth names, which are written as they should be. There is none where no
    command judges, or where the solution writes no code but what the ground truth names.
    """
    lines = list(_judging(environment))
    writes = {
        step["args"]["path"]: step
        for step in script
        if step.get("tool") in ("write_file", "delete_file") and isinstance(step.get("args"), dict)
        if isinstance(step["args"].get("path"), str)
    }
    code = [path for path in writes if path not in named and _end(path) in _ENDS_EARLY]
    if not lines or not code:
        return
    rest = [
        step
        for step in script
        if step.get("tool") != "run_command" and all(step is not writes[path] for path in code)
    ]
    early = [_write(path, _ended(path, start.get(path, ""))) for path in code]
    yield Forgery([*early, *rest], "The code is as it was, but that it ends the program before it is tested.")
    if any(path.endswith(".py") for path in code):
        skips = [_write(path, content) for path, content in _SKIPS_ALL.items() if path not in named]
        yield Forgery([*skips, *rest], "The code is as it was, and its tests are not run.")
    for path, content in _replaced(lines, start):
        if path not in writes and path not in named:
            yield Forgery(
                [_write(path, content), *rest], f"The code is as it was, and “{path}” starts no test."
            )


def _judging(environment: Environment) -> Iterator[str]:
    """The command lines that the verifier starts."""
    commands = (environment.config or {}).get("commands")
    primitives = (environment.verifier or {}).get("primitives")
    for primitive in primitives if isinstance(primitives, list) else ():
        if not isinstance(primitive, dict) or primitive.get("type") != "command_passes":
            continue
        command = primitive.get("command")
        if isinstance(commands, dict) and isinstance(command, str) and command in commands:
            command = commands[command]
        if isinstance(command, dict):
            command = command.get("command")
        if isinstance(command, str) and not primitive.get("not"):
            yield command


def _replaced(lines: Sequence[str], start: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The files of the project that a command line starts or is told by, each with a content that does nothing."""
    for line in lines:
        words = [word.removeprefix("./") for word in re.findall(r"[^\s;&|()<>\"']+", line)]
        for word in words:
            if word in start and _end(word) in _ENDS_EARLY:
                yield word, _ended(word, "")
            if word in _DRIVERS and _DRIVERS[word][0] in start:
                yield _DRIVERS[word]
            if word in ("npm", "yarn", "pnpm") and (emptied := _without_scripts(start.get("package.json"))):
                yield "package.json", emptied


def _without_scripts(package: str | None) -> str | None:
    try:
        read = loads(package or "")
    except JSONDecodeError:
        return None
    if not isinstance(read, dict) or not isinstance(read.get("scripts"), dict):
        return None
    return dumps({**read, "scripts": dict.fromkeys(read["scripts"], "exit 0")}, indent=2) + "\n"


def _end(path: str) -> str:
    return PurePosixPath(path).suffix.lower()


def _ended(path: str, content: str) -> str:
    # What may only stand at the top stays there.
    first, newline, others = content.partition("\n")
    if first.startswith("#!"):
        return f"{first}{newline or chr(10)}{_ENDS_EARLY[_end(path)]}{others}"
    return _ENDS_EARLY[_end(path)] + content


def _write(path: str, content: str) -> dict[str, Any]:
    return {"tool": "write_file", "args": {"path": path, "content": content}}


__all__ = ["Forgery", "forgeries"]
