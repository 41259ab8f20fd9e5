"""Opens a file that a person wrote and hands back its text, or says what about the file made that impossible."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from rollout.diagnostics import Span
from rollout.source.place import Problem
from rollout.source.text import SourceFile

MAX_BYTES = 64 * 1024 * 1024
"""How large a file may be that is read as a whole. Task files are streamed and have no such bound."""

_BOMS = (
    (b"\xff\xfe\x00\x00", "UTF-32"),
    (b"\x00\x00\xfe\xff", "UTF-32"),
    (b"\xff\xfe", "UTF-16"),
    (b"\xfe\xff", "UTF-16"),
)
_SHOWN = 4096
"""How many bytes of a first line are read to show it."""
_UTF8_BOM = b"\xef\xbb\xbf"
# Without O_NONBLOCK, opening a named pipe that nobody writes to would wait for ever.
_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_KINDS = (
    (stat.S_ISDIR, "folder"),
    (stat.S_ISFIFO, "named pipe"),
    (stat.S_ISSOCK, "socket"),
    (stat.S_ISCHR, "device"),
    (stat.S_ISBLK, "device"),
)


def read_source(
    path: Path, label: str, problems: list[Problem], *, max_bytes: int = MAX_BYTES
) -> SourceFile | None:
    """The text of the file at ``path``, without a BOM and with its line breaks as they are.

    ``label`` is how a person is shown the file. None, and one more problem, when there is no such regular file, it
    may not be read, it is larger than ``max_bytes``, or it is not UTF-8 text.
    """
    data = read_bytes(path, label, problems, max_bytes=max_bytes)
    if data is None:
        return None
    text = decode(data, label, problems)
    return None if text is None else SourceFile(path, label, text)


def read_bytes(
    path: Path, label: str, problems: list[Problem], *, max_bytes: int = MAX_BYTES
) -> bytes | None:
    """The bytes of the regular file at ``path``; None, and one more problem, as in :func:`read_source`."""
    descriptor = open_regular(path, label, problems)
    if descriptor is None:
        return None
    try:
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            # What was measured may have grown since, and files under /proc measure 0: the bound is on what is read.
            size = os.fstat(descriptor).st_size
            if size <= max_bytes:
                chunks = []
                size = 0
                while size <= max_bytes and (chunk := file.read(max_bytes + 1 - size)):
                    chunks.append(chunk)
                    size += len(chunk)
                if size <= max_bytes:
                    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
    except OSError as error:
        problems.append(Problem("unreadable-file", whole(label), {"reason": reason(error)}))
        return None
    problems.append(Problem("huge-file", whole(label), {"bytes": size, "max_bytes": max_bytes}))
    return None


def read_regular(path: Path, *, max_bytes: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file. Raises OSError for any other, which is never waited for, and for a larger one."""
    problems: list[Problem] = []
    data = read_bytes(path, "", problems, max_bytes=max_bytes)
    if data is not None:
        return data
    facts = problems[-1].facts
    if "bytes" in facts:
        raise OSError(f"it has more than {max_bytes:,} bytes")
    if (kind := facts.get("kind")) is not None:
        raise OSError(f"it is a {kind}")
    path.stat()
    raise OSError({"permission": "you may not read it"}.get(facts["reason"], facts["reason"]))


def open_regular(path: Path, label: str, problems: list[Problem]) -> int | None:
    """A descriptor of the regular file at ``path``, to be closed by the caller; None, and one more problem."""
    try:
        descriptor = os.open(path, _FLAGS)
    except (OSError, ValueError) as error:
        problems.append(Problem("unreadable-file", whole(label), {"reason": reason(error)}))
        return None
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return descriptor
    os.close(descriptor)
    kind = next((name for test, name in _KINDS if test(mode)), "special file")
    problems.append(Problem("unreadable-file", whole(label), {"reason": "not-a-file", "kind": kind}))
    return None


def decode(data: bytes, label: str, problems: list[Problem], *, first_line: int = 1) -> str | None:
    """``data`` as text, without its BOM; None, and one more problem at the first bad byte, when it is not UTF-8.

    ``first_line`` is the number of the line that ``data`` begins with.
    """
    encoding = next((name for bom, name in _BOMS if data.startswith(bom)), None)
    nul = data.find(b"\0") if encoding is None else -1
    if nul >= 0 and _looks_like_utf16(data):
        encoding = "UTF-16"
    if encoding is not None:
        span = Span(label, first_line, 1, first_line, 1)
        problems.append(Problem("not-utf8", span, {"encoding": encoding}))
        return None
    if nul >= 0:
        problems.append(Problem("binary-file", _byte_span(data, nul, label, first_line), {"offset": nul}))
        return None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        span = _byte_span(data, error.start, label, first_line)
        problems.append(Problem("not-utf8", span, {"byte": data[error.start], "offset": error.start}))
        return None
    return text.removeprefix("\ufeff")


def opening(path: Path, label: str) -> Span:
    """The span of the first line of a file that is not read; its first character where there is no such line."""
    descriptor = open_regular(path, label, [])
    if descriptor is None:
        return whole(label)
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        data = file.read(_SHOWN) or b""
    line = data.decode("utf-8", "replace").removeprefix("\ufeff").partition("\n")[0].rstrip("\r")
    return Span(label, 1, 1, 1, len(line) + 1, line) if line and "\0" not in line else whole(label)


def whole(label: str) -> Span:
    """The span that stands for a file of which nothing could be read: its first character."""
    return Span(label, 1, 1, 1, 1)


def reason(error: OSError | ValueError) -> str:
    """Why a file could not be read, as one word for the rule that finds the sentence, or as the system put it."""
    if isinstance(error, FileNotFoundError | NotADirectoryError):
        return "missing"
    if isinstance(error, PermissionError):
        return "permission"
    if isinstance(error, IsADirectoryError):
        return "not-a-file"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)


def _looks_like_utf16(data: bytes) -> bool:
    # Mostly Latin text in UTF-16 has a NUL at every other byte, and only there.
    head = data[:4096]
    half = max(len(head) // 2, 1)
    zeros = (head[0::2].count(0), head[1::2].count(0))
    return len(head) >= 4 and max(zeros) >= 0.6 * half and min(zeros) == 0


def _byte_span(data: bytes, offset: int, label: str, first_line: int) -> Span:
    """The span of the byte at ``offset``, in a text whose other bytes may be bad too."""
    start = data.rfind(b"\n", 0, offset) + 1
    end = data.find(b"\n", offset)
    line = data[start:] if end < 0 else data[start:end]
    before = data[start:offset]
    if start == 0:
        before, line = before.removeprefix(_UTF8_BOM), line.removeprefix(_UTF8_BOM)
    row = first_line + data.count(b"\n", 0, start)
    column = len(before.decode("utf-8", "replace")) + 1
    text = line.decode("utf-8", "replace").removesuffix("\r").replace("\0", "\ufffd")
    return Span(label, row, column, row, column + 1, text)


__all__ = [
    "MAX_BYTES",
    "decode",
    "open_regular",
    "read_bytes",
    "read_regular",
    "read_source",
    "reason",
    "whole",
]
