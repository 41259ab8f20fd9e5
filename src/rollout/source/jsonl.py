"""Streams the tasks of JSONL files of any size, a stretch of lines at a time, and finds any of them again."""

from __future__ import annotations

import os
from array import array
from bisect import bisect_right
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, count, islice
from os import urandom
from pathlib import Path
from typing import IO, Any

import orjson

from rollout.diagnostics import Span
from rollout.source import json
from rollout.source.document import TaskBlock, TaskRecord
from rollout.source.file import decode, open_regular, reason, whole
from rollout.source.place import MAX_DEPTH, Place, Problem
from rollout.source.runs import outline
from rollout.source.snapshot import ChangedError, Mark, mark_of
from rollout.source.text import SourceFile

MAX_LINE = 16 * 1024 * 1024
"""How many bytes one line may have."""
MAX_BROKEN = 100
"""How many lines of a file may be broken before the rest of it is not read."""

_STRETCH = 1 << 15
_BOM = b"\xef\xbb\xbf"
_DIGITS_AS_ZERO = bytes.maketrans(b"123456789", b"000000000")
_LONG_NUMBER = b"0" * 19
_NOT_OPENING = bytes(byte for byte in range(256) if byte not in b"{[\n")


class JsonlTasks:
    """The tasks of one or several ``.jsonl`` files, read from disk every time, a stretch at a time.

    What stays in memory is where each line begins: 8 bytes a task.
    """

    def __init__(self, files: Sequence[tuple[Path, str]], marks: Mapping[str, Mark] | None = None) -> None:
        """``files`` are paths, each with its label, in the order in which their tasks count.

        Where there are ``marks``, reading a file that has another than its own raises ChangedError.
        """
        self._files = tuple(files)
        self._marks = marks or {}
        self._index: _Index | None = None

    @property
    def home(self) -> Place:
        """The first line of the first file."""
        path, label = self._files[0]
        return Place(SourceFile(path, label, ""), 0, 0)

    def read(self, problems: list[Problem]) -> Iterator[TaskRecord]:
        """All tasks in order. Broken lines go to ``problems`` and are left out, but count."""
        for block in self.blocks(problems):
            yield from block.records

    def blocks(self, problems: list[Problem]) -> Iterator[TaskBlock]:
        """All tasks in order, as many together as stand in a stretch of the file."""
        index = self._index = _Index()
        for path, label in self._files:
            index.begin_file()
            broken = _BrokenLines(label, problems, first_row=len(index.offsets))
            for stretch in self._stretches(path, label, problems):
                row = len(index.offsets)
                values = _quick(stretch)
                if values is not None:
                    index.add(stretch)
                    records = [*map(TaskRecord, count(row), values, stretch.lines)]
                    yield TaskBlock(records, stretch.data)
                    continue
                yield TaskBlock([*self._line_by_line(path, stretch, index, broken)], stretch.data)
                if broken.is_hopeless:
                    break
        index.complete = True

    def _line_by_line(
        self, path: Path, stretch: _Stretch, index: _Index, broken: _BrokenLines
    ) -> Iterator[TaskRecord]:
        for line, offset, raw in _held(stretch):
            row = index.add_line(line, offset)
            value = _quick_line(raw)
            if value is None:
                found: list[Problem] = []
                value = _careful(path, broken.label, raw, line, found)
                if value is None:
                    broken.tell(raw, line, found, row=row)
                    if broken.is_hopeless:
                        return
                    continue
                broken.problems += found
            yield TaskRecord(row, value, raw)

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
                if not self._is_as_marked(path, descriptor):
                    return None
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
            index.begin_file()
            for stretch in self._stretches(path, label, []):
                for line, offset, _ in _held(stretch):
                    index.add_line(line, offset)
        index.complete = True
        return index

    def _stretches(self, path: Path, label: str, problems: list[Problem]) -> Iterator[_Stretch]:
        """A file as stretches of about :data:`_STRETCH` bytes, cut between lines."""
        descriptor = open_regular(path, label, problems)
        if descriptor is None:
            if os.fspath(path) in self._marks and not self._is_as_marked(path, None):
                raise ChangedError(label)
            return
        try:
            with os.fdopen(descriptor, "rb", buffering=0) as file:
                if not self._is_as_marked(path, descriptor):
                    raise ChangedError(label)
                yield from _cut(file)
                if not self._is_as_marked(path, descriptor):
                    raise ChangedError(label)
        except OSError as error:
            problems.append(Problem("unreadable-file", whole(label), {"reason": reason(error)}))

    def _is_as_marked(self, path: Path, descriptor: int | None) -> bool:
        mark = self._marks.get(os.fspath(path))
        if mark is None:
            return True
        try:
            return mark_of(path.stat() if descriptor is None else os.fstat(descriptor)) == mark
        except OSError:
            return False


class _BrokenLines:
    """The lines of one file that are no tasks: what to say about each, and when to stop."""

    __slots__ = ("begin", "count", "first_row", "is_hopeless", "label", "open_row", "problems")

    def __init__(self, label: str, problems: list[Problem], *, first_row: int) -> None:
        self.label = label
        self.problems = problems
        self.begin = len(problems)
        self.first_row = first_row
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
        if last.slug == "binary-file" and self.count == row - self.first_row + 1:
            # There was no task before it, so that it is no text from its beginning on.
            del self.problems[self.begin :]
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

    __slots__ = ("complete", "files", "gaps", "lines", "offsets")

    def __init__(self) -> None:
        self.offsets = array("Q")
        self.files: list[int] = []
        # From row gaps[i] on, up to row gaps[i + 1], the line number is the row plus lines[i].
        self.gaps: list[int] = []
        self.lines: list[int] = []
        self.complete = False

    def begin_file(self) -> None:
        """The next line is the first of the next file."""
        self.files.append(len(self.offsets))

    def add(self, stretch: _Stretch) -> None:
        """Takes all lines of a stretch, none of which is blank."""
        self._count_from(stretch.first_line)
        sizes = map(len, stretch.lines)
        ends = accumulate(sizes, lambda end, size: end + size + 1, initial=stretch.offset)
        self.offsets.extend(islice(ends, len(stretch.lines)))

    def add_line(self, line: int, offset: int) -> int:
        """Takes one line; returns its row."""
        self._count_from(line)
        self.offsets.append(offset)
        return len(self.offsets) - 1

    def _count_from(self, line: int) -> None:
        row = len(self.offsets)
        if not self.lines or line - row != self.lines[-1] or row == self.files[-1]:
            self.gaps.append(row)
            self.lines.append(line - row)

    def find(self, row: int) -> tuple[int, int, int] | None:
        """File, byte offset and line number of ``row``."""
        if not 0 <= row < len(self.offsets):
            return None
        file = bisect_right(self.files, row) - 1
        return file, self.offsets[row], row + self.lines[bisect_right(self.gaps, row) - 1]


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Some lines of a file that follow on each other, without their line feeds.

    ``offset`` is the byte at which the first of them begins, ``first_line`` its number. ``data`` is all of them. A
    line longer than MAX_LINE stands alone, and is cut there.
    """

    data: bytes
    lines: list[bytes]
    offset: int
    first_line: int


def _cut(file: IO[bytes]) -> Iterator[_Stretch]:
    rest = b""
    offset, line = 0, 1
    while chunk := file.read(_STRETCH):
        data = rest + chunk
        end = data.rfind(b"\n") + 1
        if end:
            lines = data[: end - 1].split(b"\n")
            yield _Stretch(data[:end], lines, offset, line)
            offset += end
            line += len(lines)
            rest = data[end:]
            continue
        rest = data
        if len(rest) >= MAX_LINE:
            yield _Stretch(rest[:MAX_LINE], [rest[:MAX_LINE]], offset, line)
            skipped, rest = _skip_line(file)
            offset += len(data) + skipped
            line += 1
    if rest:
        yield _Stretch(rest, [rest], offset, line)


def _skip_line(file: IO[bytes]) -> tuple[int, bytes]:
    """Reads on behind the end of the line; how many bytes that were, and what was read beyond them."""
    skipped = 0
    while chunk := file.read(_STRETCH):
        end = chunk.find(b"\n") + 1
        if end:
            return skipped + end, chunk[end:]
        skipped += len(chunk)
    return skipped, b""


def _held(stretch: _Stretch) -> Iterator[tuple[int, int, bytes]]:
    """The lines of a stretch that hold something: number, offset, and the line without a BOM."""
    offset = stretch.offset
    for line, raw in enumerate(stretch.lines, stretch.first_line):
        content = raw[len(_BOM) :] if line == 1 and raw.startswith(_BOM) else raw
        # isspace() also takes a form feed and a vertical tab, which JSON does not.
        if content and not (content.isspace() and not content.strip(b" \t\r")):
            yield line, offset, content
        offset += len(raw) + 1


# Stands between two lines when many are parsed at once. Nobody who writes a file can know it, so that what stands
# between two of it is one line, and a line that is no JSON by itself cannot borrow from its neighbours.
_BETWEEN = urandom(16).hex()
_JOINT = f',"{_BETWEEN}",'.encode()


def _quick(stretch: _Stretch) -> list[dict[str, Any]] | None:
    """The objects on lines that are certainly in order, all of them; None when one has to be looked at closely."""
    data, lines = stretch.data, stretch.lines
    try:
        parsed = orjson.loads(b"[" + _JOINT.join(lines) + b"]")
    except orjson.JSONDecodeError:
        return None
    values: list[dict[str, Any]] = parsed[::2]
    if (
        len(parsed) != 2 * len(lines) - 1
        or parsed[1::2].count(_BETWEEN) != len(lines) - 1
        or set(map(type, values)) != {dict}
        or max(map(len, data.translate(None, _NOT_OPENING).split(b"\n"))) > MAX_DEPTH
        or _forgets_or_rounds(data, values)
        or len(data) >= MAX_LINE
    ):
        return None
    return values


def _quick_line(raw: bytes) -> dict[str, Any] | None:
    try:
        value = orjson.loads(raw)
    except orjson.JSONDecodeError:
        return None
    if (
        type(value) is not dict
        or raw.count(b"{") + raw.count(b"[") > MAX_DEPTH
        or _forgets_or_rounds(raw, value)
        or len(raw) >= MAX_LINE
    ):
        return None
    return value


def _forgets_or_rounds(data: bytes, value: Any) -> bool:
    """Whether ``value`` may hold less than ``data`` says.

    A dict forgets a key that is given twice, and then it has fewer colons when it is written anew. In strings there
    are as many as before, unless one was written as an escape. Whole numbers past 64 bits come as floats.
    """
    return (
        data.count(b":") != orjson.dumps(value).count(b":")
        or (b"\\" in data and b"\\u003" in data)
        or (outline(data).has_long_run and _LONG_NUMBER in data.translate(_DIGITS_AS_ZERO))
    )


def _careful(path: Path, label: str, raw: bytes, line: int, problems: list[Problem]) -> dict[str, Any] | None:
    """The object on a line, read by the parser that knows what to say when it is wrong."""
    if len(raw) >= MAX_LINE:
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
