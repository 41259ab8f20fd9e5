"""Streams the tasks of JSONL files of any size, one line at a time, and finds any of them again."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import IO, Any

import orjson

from rollout.diagnostics import Span
from rollout.source import json
from rollout.source.document import TaskRecord
from rollout.source.file import decode, open_regular, reason, whole
from rollout.source.place import MAX_DEPTH, Place, Problem
from rollout.source.runs import outline
from rollout.source.text import SourceFile

MAX_LINE = 16 * 1024 * 1024
"""How many bytes one line may have."""
MAX_BROKEN = 100
"""How many lines of a file may be broken before the rest of it is not read."""

_BOM = b"\xef\xbb\xbf"
_DIGITS_AS_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19


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
            broken = _BrokenLines(label, problems)
            for raw in _lines(path, label, problems, index):
                number += 1
                value = _quick(raw)
                if value is None:
                    found: list[Problem] = []
                    value = _careful(path, label, raw, index.last_line, found)
                    if value is None:
                        broken.tell(raw, index.last_line, found, row=number)
                        if broken.is_hopeless:
                            break
                        continue
                    problems += found
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
        descriptor = open_regular(path, label, [])
        if descriptor is None:
            return None
        try:
            with os.fdopen(descriptor, "rb") as stream:
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


class _BrokenLines:
    """The lines of one file that are no tasks: what to say about each, and when to stop."""

    __slots__ = ("count", "is_hopeless", "label", "open_row", "problems")

    def __init__(self, label: str, problems: list[Problem]) -> None:
        self.label = label
        self.problems = problems
        self.count = 0
        self.open_row = -2
        self.is_hopeless = False

    def tell(self, raw: bytes, line: int, found: list[Problem], *, row: int) -> None:
        """Takes the problems of one more broken line, unless they only follow from the line before."""
        self.count += 1
        last = found[-1]
        kind = last.facts.get("kind")
        # No text at all, or one list over all lines: every other line would be broken as well.
        self.is_hopeless = last.slug == "binary-file" or "encoding" in last.facts or kind == "one-list"
        continues = self.open_row == row - 1 and not raw.startswith(b"{")
        if continues or kind == "unclosed":
            self.open_row = row
        if not continues or self.is_hopeless:
            self.problems += found
        if self.count >= MAX_BROKEN:
            span = Span(self.label, line, 1, line, 1)
            self.problems.append(Problem("too-many-broken-lines", span, {"broken": self.count}))
            self.is_hopeless = True


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
                # isspace() also takes a form feed and a vertical tab, which JSON does not.
                if not content or (content.isspace() and not content.strip(b" \t\r\n")):
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
    if (
        type(value) is not dict
        or raw.count(b"{") + raw.count(b"[") > MAX_DEPTH
        # A dict forgets a key that is given twice, and then it has fewer colons when it is written anew. In
        # strings there are as many as before, unless one was written as an escape.
        or raw.count(b":") != orjson.dumps(value).count(b":")
        or (b"\\" in raw and b"\\u003" in raw)
        # orjson makes floats of whole numbers that do not fit into 64 bits.
        or (outline(raw).has_long_run and _LONG_NUMBER in raw.translate(_DIGITS_AS_ZERO))
        or len(raw) >= MAX_LINE
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
    if text.strip() == "[":
        problems.append(Problem("json-syntax", source.span(0, len(text)), {"kind": "one-list"}))
        return None
    parsed = json.parse(source, problems)
    if parsed is None:
        return None
    if not isinstance(parsed.value, dict):
        problems.append(
            Problem("task-not-an-object", parsed.place.span(), {"value": parsed.value, "line": True})
        )
        return None
    return parsed.value


__all__ = ["MAX_BROKEN", "MAX_LINE", "JsonlTasks"]
