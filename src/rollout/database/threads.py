"""Runs statements in threads beside the event loop, and gives up on those that do not end.

The threads are daemons: SQLite cannot be stopped within a single step (``instr`` of two very long texts), and such a
statement must keep neither a rollout nor the process from ending.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from rollout.database.sandbox import Sandbox

SECONDS = 20.0
"""How long a statement may take on the clock before it is interrupted; long, since a machine may be busy."""

GRACE = 20.0
"""How long an interrupted statement is waited for."""

_MOST_THREADS = 16
_IDLE_SECONDS = 10.0

_Done = TypeVar("_Done")


class StuckError(Exception):
    """A statement that could not be stopped; its thread is left behind with the connection it uses."""


class Job:
    """One piece of work, and the sandbox it uses at the moment, for whoever has to interrupt it."""

    def __init__(self, work: Callable[[Job], Any], tell: Callable[[Any, BaseException | None], None]) -> None:
        self._work = work
        self._tell = tell
        self._lock = threading.Lock()
        self._sandbox: Sandbox | None = None
        self._cancelled = False

    def use(self, sandbox: Sandbox | None) -> None:
        """Says which sandbox the work uses from now on."""
        with self._lock:
            self._sandbox = sandbox

    def interrupt(self) -> None:
        """Stops the statement that runs, if one does, or keeps the work from being begun."""
        with self._lock:
            self._cancelled = True
            if self._sandbox is not None:
                self._sandbox.interrupt()

    def do(self) -> None:
        """Does the work, in a thread."""
        try:
            if self._cancelled:
                raise StuckError("It waited for too long.")
            self._tell(self._work(self), None)
        except BaseException as error:
            self._tell(None, error)


class _Crew:
    def __init__(self) -> None:
        self._jobs: SimpleQueue[Job] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads = 0
        self._idle = 0

    def take(self, job: Job) -> None:
        with self._lock:
            self._jobs.put(job)
            if self._idle >= self._jobs.qsize() or self._threads >= _MOST_THREADS:
                return
            self._threads += 1
        threading.Thread(target=self._serve, name="rollout-sql", daemon=True).start()

    def _serve(self) -> None:
        while True:
            with self._lock:
                self._idle += 1
            try:
                job = self._jobs.get(timeout=_IDLE_SECONDS)
            except Empty:
                with self._lock:
                    self._idle -= 1
                    if not self._jobs.empty():
                        continue
                    self._threads -= 1
                    return
            with self._lock:
                self._idle -= 1
            job.do()
            del job


_crew = _Crew()


async def beside(
    work: Callable[[Job], _Done], *, seconds: float | None = None, grace: float | None = None
) -> _Done:
    """Does ``work`` in a thread while the event loop goes on; what it raises is raised here.

    After ``seconds`` its statement is interrupted, as it is when the caller is cancelled. Raises StuckError when it has
    not ended ``grace`` seconds later.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(value)

    def tell(value: Any, error: BaseException | None) -> None:
        with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            loop.call_soon_threadsafe(settle, value, error)

    job = Job(work, tell)
    _crew.take(job)
    try:
        for limit in (SECONDS if seconds is None else seconds, GRACE if grace is None else grace):
            await asyncio.wait((done,), timeout=limit)
            if done.done():
                result: _Done = done.result()
                return result
            job.interrupt()
    except asyncio.CancelledError:
        job.interrupt()
        raise
    done.cancel()
    raise StuckError("The statement could not be stopped.")


__all__ = ["GRACE", "SECONDS", "Job", "StuckError", "beside"]
