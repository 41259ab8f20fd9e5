"""Starts one job in a sandbox, watches what it uses, and ends it with all that it started."""

from __future__ import annotations

import asyncio
import json
import os
import resource
import signal
import sys
from contextlib import suppress
from time import perf_counter
from typing import Any
from weakref import WeakKeyDictionary

from rollout.sandbox import Ended, Job, SandboxError, Stopped
from rollout.sandbox.choice import Kind, Start
from rollout.sandbox.folder import INSIDE, Folder
from rollout.sandbox.streams import Pipes, Printed
from rollout.sandbox.toolchain import search_path
from rollout.sandbox.usage import Usage, measure

_BETWEEN_LOOKS = 0.1
_GRACE = 5.0
_OPEN_FILES = 1024
_MARGIN = 8

# One in each event loop, since a semaphore belongs to one.
_slots: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Semaphore] = WeakKeyDictionary()


async def launch(job: Job, kind: Kind) -> Ended:
    """Runs a job in this kind of sandbox. Raises SandboxError when it could not be started."""
    loop = asyncio.get_running_loop()
    slot = _slots.setdefault(loop, asyncio.Semaphore(max(2, os.cpu_count() or 1)))
    async with slot:
        folder = Folder()
        try:
            laying = asyncio.ensure_future(asyncio.to_thread(folder.lay_down, job))
            try:
                await asyncio.shield(laying)
            except asyncio.CancelledError:
                # What a thread still writes cannot be removed.
                await asyncio.wait([laying])
                raise
            pipes = Pipes(folder, job.witness.key if job.witness is not None else None)
            try:
                return await _Run(job, kind, folder, pipes).through()
            finally:
                pipes.close()
        finally:
            await asyncio.shield(asyncio.to_thread(folder.remove))


class _Run:
    def __init__(self, job: Job, kind: Kind, folder: Folder, pipes: Pipes) -> None:
        self.job, self.kind, self.folder, self.pipes = job, kind, folder, pipes
        self.printed = Printed(job.limits.output, lambda: self.stop("output"))
        self.stopped: Stopped | None = None
        self.trouble: str | None = None
        self.process: asyncio.subprocess.Process | None = None
        self.leader: int | None = None
        self.told_status: int | None = None

    async def through(self) -> Ended:
        started = perf_counter()
        witness = self.job.witness
        command = self.job.command
        command += witness.arguments(command, self._shown) if witness is not None else ""
        start = self.kind.start(self.folder, command, self._variables(), self.job.limits)
        tasks: list[asyncio.Task[None]] = []
        try:
            process = await self._spawn(start)
            if start.status_fd is None:
                self._limit(process.pid, own_user=False)
            else:
                tasks.append(asyncio.ensure_future(self._follow(start)))
            watch = asyncio.ensure_future(self._watch())
            try:
                async with asyncio.timeout(self.job.limits.seconds):
                    await process.wait()
            except TimeoutError:
                self.stop("time")
            finally:
                watch.cancel()
        finally:
            await asyncio.shield(self._end(start, tasks))
        self.pipes.drain()
        return self._ended(start, perf_counter() - started)

    async def _spawn(self, start: Start) -> asyncio.subprocess.Process:
        try:
            self.process = await asyncio.create_subprocess_exec(
                *start.arguments,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
                pass_fds=tuple(start.hand_on),
                env=start.variables,
                cwd=start.folder,
                start_new_session=True,
            )
        except OSError as error:
            raise SandboxError(f"The command cannot be started: {error.strerror}.") from None
        finally:
            for descriptor in start.hand_on:
                os.close(descriptor)
        assert self.process.stdout is not None
        self.pumping = asyncio.ensure_future(self.printed.pump(self.process.stdout))
        return self.process

    async def _follow(self, start: Start) -> None:
        """Reads what the sandbox says of itself: first who runs, who is then limited and let go; last how it ended."""
        assert start.status_fd is not None and start.go_fd is not None
        reader = asyncio.StreamReader()
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(start.status_fd, "rb", buffering=0)
        )
        try:
            while line := await reader.readline():
                said = _read_json(line)
                if "child-pid" in said and self.leader is None:
                    self.leader = int(said["child-pid"])
                    if self._limit(self.leader, own_user=True):
                        os.write(start.go_fd, b"\n")
                if "exit-code" in said:
                    self.told_status = int(said["exit-code"])
        finally:
            transport.close()

    def _limit(self, pid: int, *, own_user: bool) -> bool:
        """Whether the process could be limited; otherwise it is ended."""
        limits = self.job.limits
        bounds = {
            resource.RLIMIT_CPU: int(limits.seconds * 2) + 1,
            resource.RLIMIT_FSIZE: limits.file,
            resource.RLIMIT_DATA: limits.memory,
            resource.RLIMIT_CORE: 0,
            resource.RLIMIT_NOFILE: _OPEN_FILES,
        }
        if own_user:
            # Of a user who runs other programs too, this would be the number of them all.
            bounds[resource.RLIMIT_NPROC] = limits.processes
        try:
            for name, bound in bounds.items() if sys.platform == "linux" else ():
                resource.prlimit(pid, name, (bound, bound))
        except ProcessLookupError:
            return True
        except (PermissionError, ValueError) as error:
            self.trouble = f"The command cannot be limited: {error}."
            self._kill()
            return False
        return True

    async def _watch(self) -> None:
        limits = self.job.limits
        while sys.platform == "linux":
            await asyncio.sleep(_BETWEEN_LOOKS)
            usage = await self._measure(exactly=False)
            if usage.processes > limits.processes + _MARGIN:
                self.stop("processes")
            elif usage.memory > limits.memory:
                usage = await self._measure(exactly=True)
                if usage.memory > limits.memory:
                    self.stop("memory")

    async def _measure(self, *, exactly: bool) -> Usage:
        if self.leader is not None:
            return await asyncio.to_thread(measure, self.leader, in_namespace=True, exactly=exactly)
        if self.process is None:
            return Usage()
        return await asyncio.to_thread(measure, self.process.pid, in_namespace=False, exactly=exactly)

    def stop(self, why: Stopped) -> None:
        """Ends the command because of a limit."""
        if self.process is not None and self.process.returncode is None and self.stopped is None:
            self.stopped = why
            self._kill()

    def _kill(self) -> None:
        process = self.process
        if process is None:
            return
        with suppress(ProcessLookupError, PermissionError):
            if self.leader is not None and process.returncode is None:
                os.kill(self.leader, signal.SIGKILL)
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)

    async def _end(self, start: Start, tasks: list[asyncio.Task[None]]) -> None:
        """Nothing that was started outlives this, and nothing that was opened."""
        process = self.process
        unfinished = process is not None and process.returncode is None
        self._kill()
        if process is not None:
            await process.wait()
            # Whoever left the process group, where there is no sandbox, may hold the pipe open.
            with suppress(TimeoutError):
                await asyncio.wait_for(self.pumping, _GRACE)
            if start.name is not None and (unfinished or self.stopped is not None):
                await self.kind.end(start)
        for task in tasks:
            with suppress(TimeoutError):
                await asyncio.wait_for(task, _GRACE)
        if not tasks and start.status_fd is not None:
            os.close(start.status_fd)
        if start.go_fd is not None:
            os.close(start.go_fd)

    @property
    def _shown(self) -> str:
        """Where the command sees the private folder."""
        return str(self.folder.path) if self.kind.name == "none" else INSIDE

    def _variables(self) -> dict[str, str]:
        variables = {
            "PATH": search_path(),
            "HOME": "/tmp",
            "USER": "agent",
            "LOGNAME": "agent",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "CI": "1",
            "PYTHONHASHSEED": "0",
            "PYTHONDONTWRITEBYTECODE": "1",
        } | dict(self.job.variables)
        return variables | (self.job.witness.variables(self._shown) if self.job.witness is not None else {})

    def _ended(self, start: Start, seconds: float) -> Ended:
        assert self.process is not None
        output, report = self.printed.text(), bytes(self.pipes.data)
        if self.trouble is not None:
            raise SandboxError(self.trouble)
        if self.stopped is not None:
            return Ended(None, output, self.stopped, report, seconds)
        status = self.process.returncode
        if start.status_fd is not None:
            if self.told_status is None:
                raise SandboxError(
                    f"The sandbox ended before the command did: {output.strip()[-400:] or 'it was killed'}."
                )
            status = self.told_status
        return Ended(status, output, None, report, seconds)


def _read_json(line: bytes) -> dict[str, Any]:
    try:
        said = json.loads(line)
    except ValueError:
        return {}
    return said if isinstance(said, dict) else {}


__all__ = ["launch"]
