"""Starts the process that runs a user's Python file, and reads what it hands back.

A file may end its process, fork, write where it likes, replace what is built in or never come to its end. None of
that may end this program, print into its output, or pass for a file that was read.
"""

from __future__ import annotations

import contextlib
import json
import marshal
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from types import CodeType
from typing import IO, Any

MAX_SECONDS = 60.0
"""How long a file may run. Making environments takes milliseconds; heavy imports take seconds."""
MAX_REPORT = 1 << 30
"""How many bytes a file may hand back."""

_GRACE = 5.0
# Once the process has ended, what it wrote is there; a copy of it that lives on need not be waited for.
_STEP = 0.05
_START = (
    "import marshal, sys; search, name, code = marshal.load(sys.stdin.buffer); sys.path[:] = search; "
    "from rollout.source.python_child import main; main(name, marshal.loads(code))"
)


@dataclass(frozen=True, slots=True)
class NoReport:
    """A process that ended without a report: its exit status, the signal that ended it, or the time it was given."""

    status: int | None = None
    signal: str | None = None
    seconds: float | None = None


def run_apart(filename: str, code: CodeType, *, seconds: float = MAX_SECONDS) -> dict[str, Any] | NoReport:
    """What ``code``, compiled from the file ``filename``, makes: the report of ``python_child.py``.

    What the file prints, on whatever way, goes to stderr. Raises KeyboardInterrupt when the file is interrupted.
    """
    request = marshal.dumps((sys.path[:], filename, marshal.dumps(code)))
    process = subprocess.Popen(
        [sys.executable, "-P", "-B", "-c", _START], stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0
    )
    try:
        assert process.stdin is not None and process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            # It stays open: that it is closed, as it is when this program is killed, ends the process.
            _write_all(process.stdin, request)
        deadline = time.monotonic() + seconds
        data = _read(process, process.stdout, deadline)
        if data is None and process.poll() is None and time.monotonic() >= deadline:
            return NoReport(seconds=seconds)
        _wait(process)
        report = _parsed(data)
        if report is None:
            return _ended(process.returncode)
        if "interrupted" in report:
            raise KeyboardInterrupt
        return report
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with contextlib.suppress(OSError):
                    stream.close()


def _write_all(stream: IO[bytes], data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[stream.write(left) :]


def _read(process: subprocess.Popen[bytes], stream: IO[bytes], deadline: float) -> bytes | None:
    """The report's bytes; None when there is none by the time the process ends, or by the ``deadline``."""
    got = bytearray()
    wanted = 8
    descriptor = stream.fileno()
    while len(got) < wanted:
        has_ended = process.poll() is not None
        ready, _, _ = select.select([descriptor], [], [], 0 if has_ended else _STEP)
        if not ready:
            if has_ended or time.monotonic() >= deadline:
                return None
            continue
        chunk = os.read(descriptor, min(wanted - len(got), 1 << 20))
        if not chunk:
            return None
        got += chunk
        if len(got) == 8 == wanted:
            wanted += int.from_bytes(got, "big")
            if wanted > MAX_REPORT:
                return None
    return bytes(got[8:])


def _wait(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(_GRACE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _parsed(data: bytes | None) -> dict[str, Any] | None:
    if data is None:
        return None
    try:
        report = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return report if isinstance(report, dict) else None


def _ended(status: int) -> NoReport:
    if status >= 0:
        return NoReport(status=status)
    try:
        return NoReport(signal=signal.Signals(-status).name)
    except ValueError:
        return NoReport(signal=str(-status))


__all__ = ["MAX_SECONDS", "NoReport", "run_apart"]
