"""Searches with Python's regular expressions, for no longer than a limit.

Python's engine cannot be stopped from within its process, and a pattern that backtracks without end would hold up all
rollouts. So it works in processes beside this one, which are kept between searches (a search then costs a fraction of
a millisecond) and killed when they are late. The dialect stays that of :mod:`re`.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import select
import subprocess
import sys
import threading
import time
from pathlib import Path

_MOST_KEPT = 4


class SearchError(Exception):
    """A search that came to no end, or could not be begun; its text is the end of a sentence."""


class _Worker:
    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("_search_worker.py"))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            start_new_session=True,
        )

    def ask(self, request: bytes, seconds: float) -> bytes:
        """The line that answers a request. Raises TimeoutError, and OSError when the process is gone."""
        process = self.process
        assert process.stdin is not None and process.stdout is not None
        deadline = time.monotonic() + seconds
        process.stdin.write(request)
        answer = b""
        while not answer.endswith(b"\n"):
            ready, _, _ = select.select([process.stdout], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            piece = process.stdout.read(65_536)
            if not piece:
                raise BrokenPipeError("the process ended")
            answer += piece
        return answer

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            if stream is not None:
                stream.close()


_idle: list[_Worker] = []
_lock = threading.Lock()


async def search(pattern: str, flags: int, text: str, *, seconds: float) -> tuple[int, int] | None:
    """Where ``pattern`` is found in ``text`` first, or None. Raises SearchError.

    The event loop stays free meanwhile.
    """
    return await asyncio.to_thread(_search, pattern, flags, text, seconds)


def _search(pattern: str, flags: int, text: str, seconds: float) -> tuple[int, int] | None:
    request = json.dumps([pattern, int(flags), text]).encode() + b"\n"
    for kept in (_kept(), None):
        worker = kept or _started()
        try:
            answer = json.loads(worker.ask(request, seconds))
        except TimeoutError:
            worker.end()
            raise SearchError(f"did not come to an end within {seconds:g} seconds") from None
        except (OSError, ValueError):
            # One that was kept may have been ended by somebody; a new one was ended by the search.
            worker.end()
            continue
        except BaseException:
            worker.end()
            raise
        _keep(worker)
        if isinstance(answer, str):
            raise SearchError(f"cannot be used: {answer}")
        return None if answer is None else (answer[0], answer[1])
    raise SearchError("broke the process that it was searched for in")


def _started() -> _Worker:
    try:
        return _Worker()
    except OSError as error:
        raise SearchError(f"cannot be searched for, since no process can be started: {error}") from None


def _kept() -> _Worker | None:
    with _lock:
        return _idle.pop() if _idle else None


@atexit.register
def _end_all() -> None:
    while (worker := _kept()) is not None:
        worker.end()


def _keep(worker: _Worker) -> None:
    with _lock:
        if len(_idle) < _MOST_KEPT:
            _idle.append(worker)
            return
    worker.end()


__all__ = ["SearchError", "search"]
