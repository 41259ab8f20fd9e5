"""Executes one run under its lease: what is not done of it is done, written and told, until the run ends.

A finished rollout is in the database before its worker goes on, and only whoever holds the lease can write one: none is
lost, and none is there twice.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import asdict
from typing import Any, Protocol

import orjson

from rollout.analysis.summary import Brief
from rollout.compile.payload import environment_of
from rollout.engine.batch import CONCURRENCY, Done, Job, Stop
from rollout.engine.budget import Budget
from rollout.engine.executors import ExecutorError, Recipe
from rollout.engine.inputs import changes, inputs
from rollout.engine.rollout_line import encode
from rollout.environment import Environment
from rollout.models import ConnectError, Usage, address
from rollout.platform.server.asking import check_actor, check_judges
from rollout.platform.server.figures import Figures
from rollout.platform.server.plan import places, with_own_keys
from rollout.platform.store import FullError, Store, StoreError, environments, rollouts, runs
from rollout.platform.store.rollouts import Finished, NotHeldError
from rollout.platform.store.runs import Run, Status
from rollout.sandbox import SandboxError
from rollout.templates import TemplateError

LEASE = 30.0
"""Seconds that a run is held for; whoever executes it renews that."""

_BETWEEN_BEATS = 5.0
_LONGEST_OUTAGE = 600.0

_log = logging.getLogger("rollout")


class Host(Protocol):
    """Whoever executes runs: has the executor, and is told of what was written."""

    figures: Figures

    def recipe(self, environment: Environment, run: Run, concurrency: int) -> Recipe:
        """All that the rollouts of a run depend on besides their task."""

    def start_executor(self, recipe: Recipe, *, concurrency: int, budget: Budget) -> Any:
        """The executor of a run. Raises ExecutorError, ConnectError, TemplateError and SandboxError."""

    def wrote(self, run_id: str) -> None:
        """A run has changed."""


class _CancelledError(Exception):
    """Somebody asked for the run to be cancelled."""


class Execution:
    """One run, executed."""

    def __init__(self, host: Host, store: Store, run: Run, owner: str) -> None:
        self.task: asyncio.Task[None] | None = None
        self.concurrency = int(run.options.get("concurrency") or CONCURRENCY)
        self.left = run.total
        self.nudged = asyncio.Event()
        self._host = host
        self._store = store
        self._run = run
        self._owner = owner
        self._usage = Usage(**run.usage) if run.usage else Usage()
        self._waiting: list[tuple[Finished, asyncio.Future[None]]] = []
        self._written = asyncio.Event()
        self._trouble: str | None = None
        self._is_leaving = False

    def leave(self) -> None:
        """Begins no other rollout: what is under way is finished, and the rest is given back."""
        self._is_leaving = True

    async def run(self) -> None:
        """Does what is left of the run, and ends it or gives it back."""
        run = self._run
        try:
            stop = await self._all()
        except NotHeldError:
            # Somebody else goes on with it: this process was away for too long.
            return
        except _CancelledError:
            await self._cancel()
        except (ConnectError, ExecutorError, TemplateError, SandboxError, _ChangedError) as error:
            await self._end(Status.FAILED, str(error))
        except StoreError as error:
            _log.error("The run %s is given up for now. %s", run.id, error)
        except asyncio.CancelledError:
            await self._give_back()
            raise
        except Exception as error:
            _log.error("The run %s broke down", run.id, exc_info=error)
            await self._end(Status.FAILED, f"The server broke down over it: {type(error).__name__}.")
        else:
            if stop is None and self._is_leaving and self.left:
                await self._give_back()
                return
            await self._end(Status.DONE if stop is None else Status.FAILED, stop.sentence if stop else None)

    async def _all(self) -> Stop | None:
        run = self._run
        data = await self._store.aread(environments.data, run.environment_id, run.digest)
        assert data is not None
        environment = await asyncio.to_thread(lambda: with_own_keys(environment_of(orjson.loads(data))))
        # It may have been pushed to, or begun on, a server that was less particular.
        check_actor(run.model)
        check_judges(environment.verifier)
        recipe = self._host.recipe(environment, run, self.concurrency)
        await self._check_inputs(recipe)
        done = await self._store.aread(rollouts.places, run.id)
        todo = [place for place in places(environment, run.options) if place not in done]
        self.left = len(todo)
        budget = Budget(max_cost=run.options.get("budgetCost"), max_tokens=run.options.get("budgetTokens"))
        budget.charge(self._usage)
        executor = self._host.start_executor(recipe, concurrency=self.concurrency, budget=budget)
        # Trials of a task are known by their number, and tasks by their place.
        self._index = {task.key: index for index, task in enumerate(environment.tasks)}
        jobs = (Job(environment.tasks[index], trial) for index, trial in self._unless_leaving(todo))
        return await self._watched(executor, jobs)

    def _unless_leaving(self, todo: Iterable[tuple[int, int]]) -> Iterator[tuple[int, int]]:
        for place in todo:
            if self._is_leaving:
                return
            yield place

    async def _watched(self, executor: Any, jobs: Iterator[Job]) -> Stop | None:
        doing: asyncio.Task[Stop | None] = asyncio.create_task(executor.run(jobs, self._finish))
        writing = asyncio.create_task(self._write())
        beating = asyncio.create_task(self._beat())
        tasks: tuple[asyncio.Task[Any], ...] = (doing, writing, beating)
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in (beating, writing):
                if task.done():
                    task.result()
            return doing.result()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            # What was finished before a cancellation is kept, where the database answers.
            with suppress(StoreError, NotHeldError):
                await self._flush()
            await executor.close()

    async def _check_inputs(self, recipe: Recipe) -> None:
        found = inputs(
            recipe.environment,
            recipe.model,
            address=address(recipe.model, recipe.setup),
            sampling=recipe.sampling,
            max_tool_calls=recipe.max_tool_calls,
            seconds=recipe.seconds,
        )
        if self._run.inputs is None:
            await self._store.awrite(runs.keep_inputs, self._run.id, found)
        elif changed := changes(self._run.inputs, found):
            raise _ChangedError(f"It was begun with something else. Changed since: {', '.join(changed)}.")

    async def _finish(self, done: Done) -> None:
        line = encode(done)
        used = line.done.usage + _judging(line.done)
        self._usage += used
        self._host.figures.rollout(Brief.of(line.done).outcome, used)
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(
            (finished_of(line.done, self._index[line.done.job.task.key], line.data), written)
        )
        self._written.set()
        await written

    async def _write(self) -> None:
        """Writes what is waiting, all of it in one transaction at a time."""
        while True:
            await self._written.wait()
            self._written.clear()
            await self._flush(patiently=True)

    async def _flush(self, *, patiently: bool = False) -> None:
        batch, self._waiting = self._waiting, []
        if not batch:
            return
        usage = asdict(self._usage)
        write = self._store.awrite
        pause, waited = 0.5, 0.0
        while True:
            try:
                # A transaction goes on when its task is cancelled. Written a second time, it changes nothing.
                await asyncio.shield(
                    write(rollouts.keep, self._run.id, self._owner, [each for each, _ in batch], usage)
                )
                break
            except StoreError as error:
                if not patiently or waited > _LONGEST_OUTAGE:
                    raise
                self._stand_still(error)
                await asyncio.sleep(pause)
                waited, pause = waited + pause, min(10.0, pause * 2)
            except asyncio.CancelledError:
                self._waiting = [*batch, *self._waiting]
                raise
        if self._trouble is not None:
            self._trouble = None
            self.nudged.set()
        self.left -= len(batch)
        self._host.wrote(self._run.id)
        for _, written in batch:
            if not written.done():
                written.set_result(None)

    def _stand_still(self, error: StoreError) -> None:
        """Says that nothing more can be written, once, and has the run say it as soon as so little has room."""
        if self._trouble is None:
            _log.error("The run %s stands still, as no rollout of it can be kept. %s", self._run.id, error)
            # What the database says of itself may hold its address.
            self._trouble = (
                f"{error} It goes on when there is room."
                if isinstance(error, FullError)
                else "The database does not answer. It goes on when it does."
            )
            self.nudged.set()

    async def _beat(self) -> None:
        """Holds the run. Raises NotHeldError when it is somebody else's, and _CancelledError when it is to end."""
        told: str | None = None
        while True:
            self.nudged.clear()
            trouble = self._trouble
            try:
                run = await self._store.awrite(runs.renew, self._run.id, self._owner, LEASE, trouble)
            except StoreError as error:
                _log.error("%s", error)
            else:
                if told != trouble:
                    told = trouble
                    self._host.wrote(self._run.id)
                if run is None:
                    raise NotHeldError
                if run.cancel_requested:
                    raise _CancelledError
            with suppress(TimeoutError):
                async with asyncio.timeout(_BETWEEN_BEATS):
                    await self.nudged.wait()

    async def _give_back(self) -> None:
        with suppress(StoreError):
            await self._store.awrite(runs.release, self._run.id, self._owner)

    async def _cancel(self) -> None:
        try:
            ended = await self._store.awrite(runs.end_cancelled, self._run.id, self._owner)
        except StoreError as error:
            # Whoever takes it when its lease has run out finds that it is to end.
            _log.error("%s", error)
            ended = None
        if ended is not None:
            self._host.figures.run(Status.CANCELLED)
        self._host.wrote(self._run.id)

    async def _end(self, status: Status, reason: str | None) -> None:
        try:
            await self._store.awrite(runs.end, self._run.id, self._owner, status, reason)
        except StoreError as error:
            # Its lease runs out, and whoever takes it finds nothing left to do.
            _log.error("%s", error)
        self._host.figures.run(status)
        self._host.wrote(self._run.id)


class _ChangedError(Exception):
    """The run cannot be gone on with as it was begun; the text is a sentence."""


def finished_of(done: Done, index: int, line: bytes) -> Finished:
    """A finished rollout as the store keeps it."""
    brief, task, trace = Brief.of(done), done.job.task, done.rollout.trace
    return Finished(
        task_index=index,
        trial=brief.trial,
        task=task.key,
        instruction=task.instruction,
        split=task.split,
        outcome=str(brief.outcome),
        again=brief.is_to_be_done_again,
        score=brief.score,
        reason=brief.reason,
        calls=len(trace.calls),
        seconds=trace.seconds,
        line=line,
        charged_to=brief.charged_to,
    )


def _judging(done: Done) -> Usage:
    verdict = done.rollout.verdict
    return verdict.usage if verdict.marks else Usage()


__all__ = ["LEASE", "Execution", "Host", "finished_of"]
