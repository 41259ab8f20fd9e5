"""Runs one Python file in a process of its own, and hands back in JSON what it made.

The process is started by ``python_process.py``. Its standard output is the way back, so the file gets stderr in its
place: nothing that the file writes, by whatever means, can be taken for the report.
"""

from __future__ import annotations

import _thread
import atexit
import builtins
import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import rollout
from rollout.source.python_description import Describer
from rollout.source.python_run import describe_failure, run

# What the file may replace, held before it runs.
_BUILTINS = vars(builtins)
_CLEAR, _UPDATE, _SAVED = _BUILTINS.clear, _BUILTINS.update, dict(_BUILTINS)
_DEPTH = sys.getrecursionlimit()
_pid, _write, _exit, _encode = os.getpid, os.write, os._exit, json.JSONEncoder(check_circular=False).encode


def main(filename: str, code: CodeType) -> None:
    """Runs ``code``, compiled from the file ``filename``; writes the report and ends the process."""
    way_back = os.dup(1)
    own = _pid()
    _end_with_parent(os.dup(0))
    empty = os.open(os.devnull, os.O_RDWR)
    os.dup2(empty, 0)  # A file that asks a question fails here; it does not wait for an answer.
    try:
        os.dup2(2, 1)
    except OSError:
        os.dup2(empty, 1)
    kinds = (rollout.Environment, rollout.Task)
    describer = Describer(*kinds)
    status = 1
    interrupts: list[int] = []

    def interrupt(number: int, frame: FrameType | None) -> None:
        interrupts.append(number)
        raise KeyboardInterrupt

    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, interrupt)
    try:
        done = run(Path(filename), code, kinds, afterwards=_restore)
        if _pid() != own:
            _exit(0)  # A copy that the file made with os.fork came to the end of the file as well.
        if done.error is None:
            report = describer.describe(done)
        else:
            report = {"failure": describe_failure(done.error, Path(filename))}
        _send(way_back, report)
        status = 0
    except BaseException as error:
        _restore()
        if _pid() == own:
            # Without a signal it was the file itself that raised KeyboardInterrupt: a failure as any other.
            is_interrupt = isinstance(error, KeyboardInterrupt) and interrupts
            failure = {"failure": describe_failure(error, Path(filename))}
            _send(way_back, {"interrupted": True} if is_interrupt else failure)
    finally:
        _end(status, own)


def _end_with_parent(pipe: int) -> None:
    """Ends the process when the one that started it is gone, and with it the other end of its standard input."""
    read, leave = os.read, _exit

    def watch() -> None:
        # No builtin name is used: the file may take them away.
        while read(pipe, 1):
            pass
        leave(1)

    # Not a Thread of threading: the file may count those, or wait for all of them.
    _thread.start_new_thread(watch, ())


def _restore() -> None:
    # No builtin name may be used before they are all back.
    _CLEAR()
    _UPDATE(_SAVED)
    sys.setrecursionlimit(_DEPTH)
    sys.settrace(None)
    sys.setprofile(None)


def _send(way_back: int, report: dict[str, Any]) -> None:
    data = _encode(report).encode("ascii")
    left = memoryview(len(data).to_bytes(8, "big") + data)
    while left:
        left = left[_write(way_back, left) :]


def _end(status: int, own: int) -> None:
    # Threads that the file left running are not waited for.
    try:
        if _pid() == own:
            atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(Exception):
                stream.flush()
    finally:
        _exit(status)


__all__ = ["main"]
