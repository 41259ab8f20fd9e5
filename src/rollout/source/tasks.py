"""The tasks of an environment: streamed from JSONL files of any size, or listed in a YAML, TOML or JSON file."""

from __future__ import annotations

import os
import re
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from os import PathLike
from pathlib import Path
from typing import IO, Any

import orjson

from rollout.diagnostics import Span
from rollout.source import json
from rollout.source.document import TaskRecord
from rollout.source.file import decode, open_regular, reason, whole
from rollout.source.place import Parsed, Place, Problem
from rollout.source.text import SourceFile

MAX_LINE = 16 * 1024 * 1024
"""How many bytes one line may have."""
MAX_BROKEN = 1000
"""How many lines of a file may be broken before the rest of it is not read."""

_BOM = b"\xef\xbb\xbf"
_NOT_DIGITS = bytes(set(range(256)) - set(b"0123456789"))
_LONG_NUMBER = re.compile(rb"[0-9]{16}")


class JsonlTasks:
    """The tasks of one or several ``.jsonl`` files, read from disk every time, a line at a time.

    What stays in memory is where each line begins: 8 bytes a task.
    """

    def __init__(self, files: Sequence[tuple[Path, str]]) -> None:
        """``files`` are paths, each with its label, in the order in which their tasks count."""
        self._files = tuple(files)
        self._index: _Index | None = None

    @property
    def home(self) -> Place:
        """The first line of the first file."""
        path, label = self._files[0]
        return Place(SourceFile(path, label, ""), 0, 0)

    def read(self, problems: list[Problem]) -> Iterator[TaskRecord]:
        """All tasks in order. Broken lines go to ``problems`` and are left out, but count."""
        index = self._index = _Index()
        number = -1
        for path, label in self._files:
            index.begin_file(number + 1)
            broken = 0
            for raw in _lines(path, label, problems, index):
                number += 1
                value = _quick(raw)
                if value is None:
                    value = _careful(path, label, raw, index.last_line, problems)
                    if value is None:
                        broken += 1
                        if broken >= MAX_BROKEN or raw.startswith((b"\xff\xfe", b"\xfe\xff")):
                            span = Span(label, index.last_line, 1, index.last_line, 1)
                            if broken >= MAX_BROKEN:
                                problems.append(Problem("too-many-broken-lines", span, {"broken": broken}))
                            break
                        continue
                yield TaskRecord(number, value, raw)
        index.complete = True

    def place(self, index: int) -> Place | None:
        """Where task ``index`` stands; its line is read again. None when there is no such line any more."""
        known = self._index
        if known is None or (index >= len(known.offsets) and not known.complete):
            known = self._scan()
        found = known.find(index)
        if found is None:
            return None
        file, offset, line = found
        path, label = self._files[file]
        try:
            with path.open("rb") as stream:
                stream.seek(offset)
                raw = stream.readline(MAX_LINE)
        except OSError:
            return None
        text = raw.rstrip(b"\r\n").decode("utf-8", "replace").removeprefix("\ufeff")
        source = SourceFile(path, label, text, first_line=line)
        parsed = json.parse(source, [])
        return parsed.place if parsed is not None else Place(source, 0, len(text))

    def _scan(self) -> _Index:
        index = self._index = _Index()
        for path, label in self._files:
            index.begin_file(len(index.offsets))
            for _ in _lines(path, label, [], index):
                pass
        index.complete = True
        return index


class InlineTasks:
    """Tasks that are members of a list: ``tasks.yaml``, or the ``tasks`` of an ``environment.yaml``."""

    def __init__(self, parsed: Parsed) -> None:
        self._value = parsed.value
        self._place = parsed.place

    @property
    def home(self) -> Place:
        """The list, with its key where it has one."""
        return self._place

    def read(self, problems: list[Problem]) -> Iterator[TaskRecord]:
        """All tasks in order. Members that are no objects go to ``problems`` and are left out, but count."""
        if not isinstance(self._value, list):
            if self._value is not None:
                problems.append(Problem("tasks-not-a-list", self._place.span(), {"type": _kind(self._value)}))
            return
        for index, value in enumerate(self._value):
            if isinstance(value, dict):
                yield TaskRecord(index, value)
            else:
                span = (self.place(index) or self._place).span()
                problems.append(Problem("task-not-an-object", span, {"type": _kind(value)}))

    def place(self, index: int) -> Place | None:
        """Where task ``index`` stands."""
        return self._place.child(index)


class _Index:
    """Where the lines that hold something begin, and which lines those are."""

    __slots__ = ("complete", "files", "gaps", "last_line", "lines", "offsets")

    def __init__(self) -> None:
        self.offsets = array("Q")
        self.files: list[int] = []
        # From row gaps[i] on, up to row gaps[i + 1], the line number is the row plus lines[i].
        self.gaps: list[int] = []
        self.lines: list[int] = []
        self.last_line = 0
        self.complete = False

    def begin_file(self, row: int) -> None:
        """The file that follows has its first task at ``row``."""
        self.files.append(row)

    def find(self, row: int) -> tuple[int, int, int] | None:
        """File, byte offset and line number of ``row``."""
        if not 0 <= row < len(self.offsets):
            return None
        file = bisect_right(self.files, row) - 1
        return file, self.offsets[row], row + self.lines[bisect_right(self.gaps, row) - 1]


def _lines(path: Path, label: str, problems: list[Problem], index: _Index) -> Iterator[bytes]:
    """The lines of a file that hold something, without their line breaks; ``index`` learns where they are."""
    descriptor = open_regular(path, label, problems)
    if descriptor is None:
        return
    offsets = index.offsets
    row = len(offsets)
    offset = line = 0
    shift: int | None = None
    try:
        with os.fdopen(descriptor, "rb", buffering=1 << 20) as file:
            while raw := file.readline(MAX_LINE):
                line += 1
                size = len(raw)
                content = raw
                if line == 1 and raw.startswith(_BOM):
                    content = raw[len(_BOM) :]
                if content.isspace() or not content:
                    offset += size
                    continue
                if line - row != shift:
                    shift = line - row
                    index.gaps.append(row)
                    index.lines.append(shift)
                offsets.append(offset)
                row += 1
                index.last_line = line
                yield content
                if size == MAX_LINE and not raw.endswith(b"\n"):
                    size += _skip_line(file)
                offset += size
    except OSError as error:
        problems.append(Problem("unreadable-file", whole(label), {"reason": reason(error)}))


def _skip_line(file: IO[bytes]) -> int:
    """Reads on behind the end of the line; how many bytes that were."""
    skipped = 0
    while rest := file.readline(1 << 20):
        skipped += len(rest)
        if rest.endswith(b"\n"):
            break
    return skipped


def _quick(raw: bytes) -> dict[str, Any] | None:
    """The object on a line that is certainly in order; None when it has to be looked at more closely."""
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    # A dict forgets a key given twice. Written anew it has one `":` less, unless one of these hides or adds some.
    if (
        type(value) is not dict
        or raw.count(b'":') != orjson.dumps(value).count(b'":')
        or b" :" in raw
        or b"\t:" in raw
        or b"\r:" in raw
        or (b"\\u" in raw and (b"\\u0022" in raw or b"\\u003a" in raw or b"\\u003A" in raw))
        or (raw.count(b"{") + raw.count(b"[") > json.MAX_DEPTH)
        or len(raw) >= MAX_LINE
        # orjson makes floats of whole numbers that do not fit into 64 bits.
        or (len(raw.translate(None, _NOT_DIGITS)) >= 16 and _LONG_NUMBER.search(raw) is not None)
    ):
        return None
    return value


def _careful(path: Path, label: str, raw: bytes, line: int, problems: list[Problem]) -> dict[str, Any] | None:
    """The object on a line, read by the parser that knows what to say when it is wrong."""
    if len(raw) >= MAX_LINE and not raw.endswith(b"\n"):
        span = Span(label, line, 1, line, 1)
        problems.append(Problem("huge-file", span, {"max_bytes": MAX_LINE, "what": "line"}))
        return None
    text = decode(raw.rstrip(b"\r\n"), label, problems, first_line=line)
    if text is None:
        return None
    source = SourceFile(path, label, text, first_line=line)
    parsed = json.parse(source, problems)
    if parsed is None:
        return None
    if not isinstance(parsed.value, dict):
        problems.append(
            Problem("task-not-an-object", parsed.place.span(), {"type": _kind(parsed.value), "line": True})
        )
        return None
    return parsed.value


def read_jsonl_tasks(path: str | PathLike[str]) -> Iterator[dict[str, Any]]:
    """The tasks of one ``.jsonl`` file as they are written.

    Raises ValueError, whose message begins with file, line and column, at the first line that is no task.
    """
    label = os.fspath(path)
    tasks = JsonlTasks([(Path(path), label)])
    problems: list[Problem] = []
    for record in tasks.read(problems):
        if problems:
            break
        yield record.value
    if problems:
        raise ValueError(f"{problems[0].span}: {problems[0].slug}")


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "a truth value"
    if isinstance(value, int | float):
        return "a number"
    if isinstance(value, str):
        return "a string"
    return "a list" if isinstance(value, list) else "an object"


__all__ = ["MAX_LINE", "InlineTasks", "JsonlTasks", "read_jsonl_tasks"]
