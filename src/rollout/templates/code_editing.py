"""code-editing: text files that the agent lists, reads, writes and deletes, and commands that it may run on them.

A command runs in a sandbox, over a copy of the files as they are then; what it writes is thrown away. Files under
``hidden`` are not there until the agent is done.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Any

from rollout.environment import Environment, Task
from rollout.sandbox import Job, run
from rollout.sandbox.commands import Command, CommandError, read_command, told
from rollout.templates import Result, Script, TemplateError, Tool
from rollout.templates._project_files import (
    MOST_BYTES_IN_ALL,
    MOST_FILES,
    RefusedError,
    measured,
    obstacle,
    read_path,
)

_PATH = {
    "type": "string",
    "minLength": 1,
    "description": "The file's path, relative to the project's folder, such as src/main.py.",
}


def prepare(environment: Environment) -> CodeEditingStage:
    """Makes a code-editing environment ready. Raises TemplateError for files or commands that there cannot be."""
    return CodeEditingStage(environment)


class CodeEditingStage:
    """The files at the start and the commands, shared by all worlds and never changed."""

    def __init__(self, environment: Environment) -> None:
        config = environment.config or {}
        self.notes = str(config.get("description") or "")
        self.files = _read_files(config.get("files"))
        self.bytes = sum(len(content.encode("utf-8")) for content in self.files.values())
        self.commands: dict[str, Command] = {}
        declared = config.get("commands") or {}
        if not isinstance(declared, dict):
            raise TemplateError("“commands” is not an object.")
        for name, written in declared.items():
            try:
                self.commands[name] = read_command(name, written)
            except CommandError as error:
                raise TemplateError(str(error)) from None
        self.tools = _tools(self.commands)

    def open(self, task: Task) -> CodeEditingWorld:
        """A world with files of its own."""
        return CodeEditingWorld(self)

    def solve(self, task: Task) -> Script | None:
        """Writes and deletes the files that the ground truth names; None when it names none that would change."""
        wanted = task.hidden_ground_truth.get("files")
        if not isinstance(wanted, dict) or not wanted:
            return None
        script: Script = []
        for path, content in wanted.items():
            if content is None and path in self.files:
                script.append({"tool": "delete_file", "args": {"path": path}})
        for path, content in wanted.items():
            if isinstance(content, str) and self.files.get(path) != content:
                script.append({"tool": "write_file", "args": {"path": path, "content": content}})
        return script or None


class CodeEditingWorld:
    """One rollout's own files."""

    def __init__(self, stage: CodeEditingStage) -> None:
        # Strings cannot be changed, so the copy of the map is a copy of all.
        self._files = dict(stage.files)
        self._bytes = stage.bytes
        self._stage = stage

    async def call(self, name: str, args: Mapping[str, Any]) -> Result:
        """Runs one tool. Raises SandboxError when a command cannot be run for want of a sandbox."""
        try:
            if name == "list_files":
                return Result.of({"files": sorted(self._files)})
            if name == "run_command":
                return await self._run(args["command"])
            path = read_path(args["path"])
            if name == "write_file":
                return self._write(path, args["content"])
            content = self._find(path)
        except RefusedError as error:
            return Result.failed(str(error))
        if name == "read_file":
            return Result.of({"path": path, "content": content})
        del self._files[path]
        self._bytes -= len(content.encode("utf-8"))
        return Result.of({"path": path, "deleted": True})

    def state(self) -> dict[str, Any]:
        """A copy of the files, as ``{"files": {path: content}}``."""
        return {"files": dict(self._files)}

    async def close(self) -> None:
        """There is nothing to give back; a command is over before its call is."""

    def _find(self, path: str) -> str:
        content = self._files.get(path)
        if content is not None:
            return content
        if any(other.startswith(f"{path}/") for other in self._files):
            raise RefusedError(f"“{path}” is a folder.")
        same = [other for other in self._files if other.casefold() == path.casefold()]
        close = same or get_close_matches(path, self._files, n=1)
        raise RefusedError(f"There is no file “{path}”." + (f" Did you mean “{close[0]}”?" if close else ""))

    def _write(self, path: str, content: str) -> Result:
        size, before = measured(content), self._files.get(path)
        if (reason := obstacle(path, self._files)) is not None:
            raise RefusedError(reason)
        if before is None and len(self._files) >= MOST_FILES:
            raise RefusedError(f"There are {MOST_FILES:,} files already, and there may be no more.")
        grown = self._bytes + size - (len(before.encode("utf-8")) if before is not None else 0)
        if grown > MOST_BYTES_IN_ALL:
            raise RefusedError(f"All files together may have up to {MOST_BYTES_IN_ALL:,} bytes.")
        self._files[path], self._bytes = content, grown
        return Result.of({"path": path, "bytes": size, "created": before is None})

    async def _run(self, name: str) -> Result:
        command = self._stage.commands[name]
        ended = await run(Job(command.line, dict(self._files), command.variables, command.limits))
        return Result.of({"command": name, **told(ended)})


def _read_files(files: Any) -> dict[str, str]:
    if not isinstance(files, dict) or not files:
        raise TemplateError("There are no files.")
    total = 0
    for path, content in files.items():
        try:
            if not isinstance(content, str):
                raise RefusedError("Its content is no text.")
            if read_path(path) != path:
                raise RefusedError("It is written with “./” before it.")
            total += measured(content)
        except RefusedError as error:
            raise TemplateError(f"There cannot be a file “{path}”. {error}") from None
    for path in files:
        if (reason := obstacle(path, files)) is not None:
            raise TemplateError(reason)
    if len(files) > MOST_FILES or total > MOST_BYTES_IN_ALL:
        raise TemplateError(
            f"There are {len(files):,} files of {total:,} bytes; there may be {MOST_FILES:,}"
            f" of {MOST_BYTES_IN_ALL:,} together."
        )
    return {sys.intern(path): content for path, content in files.items()}


def _tools(commands: Mapping[str, Command]) -> list[Tool]:
    tools = [
        Tool("list_files", "Lists the paths of all files of the project.", _parameters()),
        Tool("read_file", "Reads one file.", _parameters(path=_PATH)),
        Tool(
            "write_file",
            "Writes one file, new or in place of what it held; the content is all that will be in it.",
            _parameters(path=_PATH, content={"type": "string", "description": "The file's whole content."}),
        ),
        Tool("delete_file", "Deletes one file.", _parameters(path=_PATH)),
    ]
    if commands:
        listed = " ".join(
            f"{name}: {command.description or command.line}" for name, command in commands.items()
        )
        tools.append(
            Tool(
                "run_command",
                "Runs one of the project's commands over the files as they are now, and tells its exit status and what"
                f" it printed. Files that it writes are not kept. {listed}",
                _parameters(
                    command={"type": "string", "enum": list(commands), "description": "Which command."}
                ),
            )
        )
    return tools


def _parameters(**properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }


__all__ = ["CodeEditingStage", "CodeEditingWorld", "prepare"]
