"""The far end of a run: one process on some machine, which does the rollouts that it is sent.

It takes and gives nothing but bytes, texts and numbers. Rollouts go on in an event loop of its own, as they do in a
process of `rollout test`, whatever loop the messages come in by.
"""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Coroutine
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread
from typing import Any, Literal, TypeVar

import rollout
from rollout.engine.batch import Batch, Job, Stop
from rollout.engine.budget import Budget
from rollout.engine.executors import Furnished, Recipe
from rollout.engine.executors._parcel import Parcel, inputs_of, unpack, unpack_task
from rollout.engine.inputs import changes
from rollout.engine.rollout_line import encode
from rollout.models import ConnectError, Usage
from rollout.sandbox import VARIABLE, SandboxError, asked_for
from rollout.scratch import scratch
from rollout.source.contract import sandboxed_templates
from rollout.templates import TemplateError

Cause = Literal["budget", "hopeless", "infrastructure"]
Told = tuple[Cause, str, str | None]
"""A :class:`Stop`, as it travels."""

_T = TypeVar("_T")

_SECONDS_TO_GATHER = 0.05
_SECONDS_OF_SILENCE = 5.0
_RUN_COMMANDS = ("command_passes", "python")


class Share(Budget):
    """A worker's share in a budget that is kept elsewhere: it gathers what is used, and is told when all is spent."""

    def __init__(self) -> None:
        super().__init__()
        self._over: str | None = None
        self._gathered = Usage()
        self._news = asyncio.Event()

    @property
    def spent(self) -> str | None:
        """Why nothing more may be used, as was told."""
        return self._over

    def charge(self, usage: Usage) -> None:
        """Adds what a turn used."""
        super().charge(usage)
        self._gathered += usage
        self._news.set()

    def end(self, sentence: str) -> None:
        """Nothing more may be used."""
        self._over = sentence

    async def take(self) -> Usage:
        """What was used since it was last taken; waits a while for some."""
        with suppress(TimeoutError):
            async with asyncio.timeout(_SECONDS_OF_SILENCE):
                await self._news.wait()
            await asyncio.sleep(_SECONDS_TO_GATHER)
        gathered, self._gathered = self._gathered, Usage()
        self._news.clear()
        return gathered


class Worker:
    """Does rollouts of one recipe. Opened once, then asked for any number of jobs at once, then closed."""

    def __init__(self) -> None:
        if sys.version_info < (3, 12):
            # Ray sets uvloop's policy, with which no other loop can start a process.
            asyncio.set_event_loop_policy(None)
        self._loop = asyncio.new_event_loop()
        Thread(target=self._run_loop, name="rollout-worker", daemon=True).start()
        self._folder: TemporaryDirectory[str] | None = None
        self._furnished: Furnished | None = None
        self._batch: Batch | None = None
        self._share: Share | None = None

    async def open(self, version: str, data: bytes, private: bytes, concurrency: int) -> dict[str, str]:
        """Makes all ready. Gives ``host``, and ``refused``, a sentence, where this worker cannot do the rollouts."""
        host = socket.gethostname()
        if version != rollout.__version__:
            return {"host": host, "refused": f"it has rollout {rollout.__version__}, and not {version}"}
        try:
            await self._here(self._open(Parcel(data, private), concurrency))
        except (ConnectError, TemplateError, SandboxError, _OtherError) as error:
            return {"host": host, "refused": str(error).rstrip(".")}
        except Exception as error:
            return {"host": host, "refused": f"{type(error).__name__}: {error}"}
        return {"host": host}

    async def do(self, task: bytes, trial: int) -> tuple[bytes | None, Told | None]:
        """Does one rollout: its line, None when the run was ended on the way, and why the run is to end."""
        return await self._here(self._do(Job(unpack_task(task), trial)))

    async def spent(self) -> dict[str, Any]:
        """The fields of what was used since it was last asked; waits a while for some."""
        assert self._share is not None
        usage = await self._here(self._share.take())
        return {name: getattr(usage, name) for name in Usage.__slots__}

    async def halt(self, cause: Cause, sentence: str, hint: str | None) -> None:
        """Ends the run here: once a budget is spent no model is asked any more, else no attempt is made again."""
        assert self._batch is not None and self._share is not None
        self._batch.stop = self._batch.stop or Stop(cause, sentence, hint)
        if cause == "budget":
            self._share.end(sentence)

    async def close(self) -> None:
        """Gives up what is under way, and all that is held."""
        await self._here(self._close())
        self._loop.call_soon_threadsafe(self._loop.stop)

    def _run_loop(self) -> None:
        self._loop.run_forever()
        self._loop.close()

    def _here(self, work: Coroutine[Any, Any, _T]) -> Awaitable[_T]:
        return asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, self._loop))

    async def _open(self, parcel: Parcel, concurrency: int) -> None:
        self._folder = scratch("worker")
        recipe, sent = unpack(parcel, Path(self._folder.name), concurrency=concurrency)
        if changed := changes(sent, inputs_of(recipe)):
            raise _OtherError(f"what arrived there is not what was sent: {', '.join(changed)}")
        if recipe.sandbox is not None:
            os.environ[VARIABLE] = recipe.sandbox
        await _find_sandbox(recipe)
        self._furnished = furnished = recipe.furnish()
        self._share = Share()
        self._batch = Batch(
            furnished.workflow,
            furnished.grader,
            furnished.model,
            concurrency=concurrency,
            budget=self._share,
        )

    async def _do(self, job: Job) -> tuple[bytes | None, Told | None]:
        assert self._batch is not None
        done = await self._batch.one(job)
        stop = self._batch.stop
        told: Told | None = (stop.cause, stop.sentence, stop.hint) if stop is not None else None
        return (encode(done).data if done is not None else None), told

    async def _close(self) -> None:
        under_way = asyncio.all_tasks() - {asyncio.current_task()}
        for task in under_way:
            task.cancel()
        await asyncio.gather(*under_way, return_exceptions=True)
        if self._furnished is not None:
            await self._furnished.close()
        if self._folder is not None:
            self._folder.cleanup()


class _OtherError(Exception):
    """What is here is not what was sent."""


async def _find_sandbox(recipe: Recipe) -> None:
    """Looks for a sandbox where one is needed: a machine without would else break all that it is given, and fast."""
    primitives = (recipe.environment.verifier or {}).get("primitives") or ()
    types = {each.get("type") for each in primitives if isinstance(each, dict)}
    if recipe.environment.template in sandboxed_templates() or types & {*_RUN_COMMANDS}:
        from rollout.sandbox.choice import find

        await find(asked_for())


__all__ = ["Cause", "Share", "Told", "Worker"]
