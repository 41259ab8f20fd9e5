"""Training jobs, each begun once: what a provider is asked for is kept before it is asked, and what it answered after.

A job is paid for and cannot be taken back. One whose answer was lost is never asked for again: it says that it may have
begun at the provider, and where to look.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import suppress
from typing import Any

from sqlalchemy import Connection

from rollout.models import ConnectError
from rollout.platform.server.processes import is_gone
from rollout.platform.store import Store, StoreError, jobs
from rollout.platform.store.ids import now
from rollout.platform.store.jobs import Job
from rollout.training.providers import TrainingError, UncertainError, place_of_jobs

_SECONDS_TO_BEGIN = 600.0
_SECONDS_TO_KEEP = 5.0
_SECONDS_TO_END = 15.0
_LONGEST_PAUSE = 10.0

_log = logging.getLogger("rollout")


class Beginnings:
    """The jobs that a server is asking providers for. Each comes to its end, whether or not anybody waits for it."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._under_way: set[asyncio.Task[Any]] = set()

    async def begin(
        self, job: Job, ask: Callable[[], Awaitable[str]], keep: Callable[[Connection, str], None]
    ) -> str:
        """Asks the provider of a job that is kept as starting; its id there, which ``keep`` writes down.

        Raises TrainingError and ConnectError for what was refused, of which nothing is left, and UncertainError.
        """
        return await asyncio.shield(self._go_on(self._asked(job, ask, keep)))

    async def close(self) -> None:
        """Waits a while for what is under way."""
        if self._under_way:
            await asyncio.wait(self._under_way, timeout=_SECONDS_TO_END)
        left = tuple(self._under_way)
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    async def _asked(
        self, job: Job, ask: Callable[[], Awaitable[str]], keep: Callable[[Connection, str], None]
    ) -> str:
        try:
            async with asyncio.timeout(_SECONDS_TO_BEGIN):
                provider_job_id = await ask()
        except UncertainError as error:
            raise await self._lost(job, str(error)) from None
        except TimeoutError:
            raise await self._lost(job, f"“{job.provider}” took too long to answer.") from None
        except (TrainingError, ConnectError):
            await self._keep(jobs.remove, job.id)
            raise
        except asyncio.CancelledError:
            with suppress(StoreError):
                await self._store.awrite(jobs.lose, job.id, _ended_before(job))
            raise
        except Exception:
            await self._lost(job, f"The server broke down while it asked “{job.provider}”.")
            raise
        if not await self._keep(keep, provider_job_id):
            _log.error(
                "The training job %s is “%s” at “%s”, which is kept when the database answers again.",
                job.id,
                provider_job_id,
                job.provider,
            )
        return provider_job_id

    async def _lost(self, job: Job, sentence: str) -> UncertainError:
        error = UncertainError(sentence, _way_out(job))
        await self._keep(jobs.lose, job.id, f"{error} {error.hint}")
        return error

    async def _keep(self, work: Callable[..., None], *args: Any) -> bool:
        """Whether it is kept by now: where the database does not answer, it is kept when it does."""
        keeping = self._go_on(self._until_kept(work, *args))
        await asyncio.wait({keeping}, timeout=_SECONDS_TO_KEEP)
        if keeping.done():
            keeping.result()
        return keeping.done()

    async def _until_kept(self, work: Callable[..., None], *args: Any) -> None:
        pause = 0.25
        while True:
            try:
                await self._store.awrite(work, *args)
            except StoreError as error:
                _log.error("What came of a training job could not be kept. %s", error)
            else:
                return
            await asyncio.sleep(pause)
            pause = min(_LONGEST_PAUSE, pause * 2)

    def _go_on(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        task = asyncio.create_task(work)
        self._under_way.add(task)
        task.add_done_callback(self._ended)
        return task

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._under_way.discard(task)
        # Whoever waited may be gone, and is who would have been told.
        if not task.cancelled():
            task.exception()


async def settle(store: Store) -> None:
    """Says of the jobs whose server ended while it asked their provider that nobody knows whether they have begun."""
    for job in await store.aglance(jobs.starting):
        is_late = job.created_at < now() - 2 * _SECONDS_TO_BEGIN * 1000
        if is_late or is_gone(job.process or ""):
            # It is found to be so again.
            with suppress(StoreError):
                await store.awrite(jobs.lose, job.id, _ended_before(job))


def _ended_before(job: Job) -> str:
    return f"The server ended before “{job.provider}” had answered. {_way_out(job)}"


def _way_out(job: Job) -> str:
    return (
        f"The job may have begun there: look at {place_of_jobs(job.provider)} before you begin another. "
        "It is not asked for again."
    )


__all__ = ["Beginnings", "settle"]
