"""replay:FILE: says again what a model said in a recorded run, so that a run can be repeated without one.

FILE is the ``rollouts.jsonl`` of a run (or the run's folder), or a recording. Rollouts are known by environment, task
and trial. The conversation has to be the one that was recorded: where a tool answers otherwise now, the rollout is an
error, charged to the environment. ``replay:FILE?missing=MODEL`` asks MODEL for rollouts that are not recorded, and
records them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from errno import EINVAL
from hashlib import sha256
from pathlib import Path
from stat import S_ISREG
from typing import Any

import orjson

from rollout.language.exact_json import load
from rollout.models import (
    AnyModel,
    Call,
    ConnectError,
    Conversation,
    Exchange,
    ModelError,
    Request,
    RolloutKey,
    Setup,
    Turn,
    UnknownModelError,
    Usage,
)
from rollout.models import connect as connect_model

RUN_FILE = "rollouts.jsonl"
_MISSING = "?missing="
_KEPT = 512
_STARTS = (b'{"environment":', b'{"schema_version":')


def connect(model_id: str, setup: Setup) -> Replay:
    """The recording called by ``model_id``, read once. Raises ConnectError when it cannot be read."""
    written = model_id.removeprefix("replay:")
    file, _, missing = written.partition(_MISSING)
    if written == model_id or not file:
        raise UnknownModelError(f"“{model_id}” does not say which recording.", "Write replay:FILE.")
    path = Path(file)
    if path.is_dir():
        path /= RUN_FILE
    model: AnyModel | None = None
    if missing:
        model = connect_model(missing, setup)
        if getattr(model, "insider", False) is True:
            raise UnknownModelError(
                f"What “{missing}” does is not recorded.",
                "It can be run at any time; record a model elsewhere.",
            )
    try:
        return Replay(model_id, path, model)
    except FileNotFoundError:
        raise ConnectError(f"There is no recording “{path}”.", "Give the file or folder of a run.") from None
    except (OSError, ValueError) as error:
        if isinstance(error, ConnectError):
            raise
        why = getattr(error, "strerror", None) or "it is no name of a file"
        raise ConnectError(
            f"“{str(path)[:200]}” cannot be read: {why}.", "Give the file or folder of a run."
        ) from None


class Replay:
    """Plays a recording. Of the file it keeps where each rollout stands, and the few that were last asked for."""

    def __init__(self, model_id: str, path: Path, model: AnyModel | None = None) -> None:
        self.id = model_id
        self.path = path
        self.model = model
        try:
            self._places = _index(path, mends=model is not None)
        except FileNotFoundError:
            if model is None:
                raise
            self._places = {}
        self._kept: dict[RolloutKey, list[dict[str, Any]]] = {}

    async def respond(self, request: Request) -> Turn:
        """The recorded turn. Raises ModelError when there is none, or the conversation is another."""
        number = sum(message["role"] == "assistant" for message in request.messages)
        lines = self._lines(request.key)
        if lines and "messages" in lines[-1]:
            return _from_trace(lines[-1], request, number, self.path)
        line = next((each for each in lines if each.get("turn") == number), None)
        if line is not None:
            if line.get("asked") != _digest(request):
                raise _diverged(number)
            return _from_record(line)
        if self.model is None:
            key = request.key
            raise ModelError(
                f"“{self.path}” has no turn {number + 1} of task “{key.task}” of “{key.environment}”, "
                f"trial {key.trial}.",
                charged_to="infrastructure",
                hint="Record it: replay:FILE?missing=MODEL.",
            )
        turn = await self.model.respond(request)  # type: ignore[arg-type]
        self._record(request, number, turn)
        return turn

    async def close(self) -> None:
        """Closes the model that is asked for what is missing."""
        if self.model is not None:
            await self.model.close()

    def _lines(self, key: RolloutKey) -> list[dict[str, Any]]:
        known = self._kept.get(key)
        if known is not None:
            return known
        lines: list[dict[str, Any]] = []
        if places := self._places.get(key):
            with os.fdopen(_open(self.path, os.O_RDONLY), "rb") as file:
                for start, length in places:
                    file.seek(start)
                    line = load(file.read(length))
                    lines.append(line["trace"] if isinstance(line.get("trace"), dict) else line)
        if len(self._kept) >= _KEPT:
            self._kept.pop(next(iter(self._kept)))
        self._kept[key] = lines
        return lines

    def _record(self, request: Request, number: int, turn: Turn) -> None:
        key = request.key
        exchange = turn.exchange or Exchange()
        line = {
            "environment": key.environment,
            "task": key.task,
            "trial": key.trial,
            "turn": number,
            "asked": _digest(request),
            "text": turn.text,
            "calls": [{"id": call.id, "tool": call.tool, "arguments": call.arguments} for call in turn.calls],
            "reasoning": turn.reasoning,
            "finish": exchange.finish,
            "served_by": exchange.served_by,
        }
        data = orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE)
        try:
            start = _append(self.path, data)
        except OSError as error:
            raise ModelError(
                f"“{self.path}” cannot be written: {error.strerror}.", charged_to="infrastructure"
            ) from None
        self._places.setdefault(key, []).append((start, len(data)))
        self._kept.pop(key, None)


def _open(path: Path, flags: int) -> int:
    """A descriptor of a file. Raises OSError for what is none, such as a pipe, which would be waited for."""
    descriptor = os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC, 0o644)
    if not S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(EINVAL, "It is no file", str(path))
    return descriptor


def _append(path: Path, line: bytes) -> int:
    """Adds a line to a recording; where it stands. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = _open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT)
    try:
        start = os.fstat(descriptor).st_size
        between = b"\n" if start and os.pread(descriptor, 1, start - 1) != b"\n" else b""
        # One write, so that lines of several rollouts never mingle.
        os.write(descriptor, between + line)
        return start + len(between)
    finally:
        os.close(descriptor)


def _index(path: Path, *, mends: bool) -> dict[RolloutKey, list[tuple[int, int]]]:
    """Where the lines of each rollout stand. A torn last line counts for nothing, and is cut off before recording."""
    places: dict[RolloutKey, list[tuple[int, int]]] = {}
    start = 0
    with os.fdopen(_open(path, os.O_RDONLY), "rb") as file:
        for number, data in enumerate(file, 1):
            if not data.strip():
                start += len(data)
                continue
            try:
                line = load(data)
            except orjson.JSONDecodeError:
                if data.endswith(b"\n") or (mends and not _is_torn(data, bool(places))):
                    raise ConnectError(
                        f"Line {number} of “{path}” is not JSON.", "Give a file that a run has written."
                    ) from None
                break
            key = _key(line)
            if key is None:
                raise ConnectError(
                    f"Line {number} of “{path}” is of no rollout.",
                    "A line has environment, task, and the messages or the turn.",
                )
            places.setdefault(key, []).append((start, len(data)))
            start += len(data)
    if mends and start < path.stat().st_size:
        os.truncate(path, start)
    return places


def _is_torn(data: bytes, follows: bool) -> bool:
    """Whether it is the beginning of a line that a recording or a run has; what is not is not ours to cut off.

    Of one that ``follows`` lines of a recording, less tells.
    """
    return any(data.startswith(start) or (follows and start.startswith(data)) for start in _STARTS)


def _key(line: Any) -> RolloutKey | None:
    if isinstance(line, dict) and isinstance(line.get("trace"), dict):
        line = line["trace"]
    if not isinstance(line, dict) or not (isinstance(line.get("messages"), list) or "turn" in line):
        return None
    environment, task, trial = line.get("environment"), line.get("task"), line.get("trial", 0)
    if not (isinstance(environment, str) and isinstance(task, str) and isinstance(trial, int)):
        return None
    return RolloutKey(environment, task, trial)


def _from_trace(trace: Mapping[str, Any], request: Request, number: int, path: Path) -> Turn:
    recorded = trace["messages"]
    spoken = [index for index, message in enumerate(recorded) if message["role"] == "assistant"]
    before = recorded[: spoken[number]] if number < len(spoken) else recorded
    if before != list(request.messages):
        raise _diverged(number)
    if number >= len(spoken):
        raise ModelError(
            f"In “{path}” the rollout of task “{request.key.task}” ends after {number} turns.",
            charged_to="infrastructure",
        )
    message = recorded[spoken[number]]
    calls = tuple(
        Call(each["id"], each["function"]["name"], each["function"]["arguments"])
        for each in message.get("tool_calls") or ()
    )
    return Turn(message.get("content") or "", calls, Usage(), message.get("reasoning_content") or "")


def _from_record(line: Mapping[str, Any]) -> Turn:
    calls = tuple(Call(each["id"], each["tool"], each["arguments"]) for each in line["calls"])
    return Turn(line["text"], calls, Usage(), line.get("reasoning") or "")


def _diverged(number: int) -> ModelError:
    return ModelError(
        f"Before turn {number + 1} the conversation is not the one that was recorded: "
        "the task, a tool or the sampling has changed since.",
        charged_to="environment",
        hint="Record the rollout anew.",
    )


def _digest(request: Request) -> str:
    messages: Sequence[Any] = request.messages
    wire = messages.wire() if isinstance(messages, Conversation) else Conversation(messages).wire()
    tools = [(tool.name, tool.parameters) for tool in request.tools]
    return sha256(wire + orjson.dumps([tools, request.sampling])).hexdigest()[:32]


__all__ = ["RUN_FILE", "Replay", "connect"]
