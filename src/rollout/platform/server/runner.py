"""Executes queued runs, with the engine that `rollout test` has.

A run is held by a lease that is renewed while it is executed. A server that is killed does not renew it, so another,
or the same one after its restart, takes the run and does what is not done. A finished rollout is in the database before
its worker goes on, and only whoever holds the lease can write one: none is lost, and none is there twice.
"""

from __future__ import annotations

import asyncio
import logging
import os
import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import asdict, replace
from typing import Any

import orjson

from rollout.analysis.summary import Brief
from rollout.compile.payload import environment_of
from rollout.engine.batch import CONCURRENCY, Done, Job, Stop
from rollout.engine.budget import Budget
from rollout.engine.executors import ExecutorError, Recipe, find
from rollout.engine.inputs import changes, inputs
from rollout.engine.journal import encode
from rollout.environment import Environment, Task
from rollout.models import ConnectError, Sampling, Setup, Usage, address, connect
from rollout.platform.store import Store, StoreError, environments, rollouts, runs
from rollout.platform.store.ids import new_id
from rollout.platform.store.rollouts import Finished, NotHeldError
from rollout.platform.store.runs import Run, Status
from rollout.sandbox import SandboxError
from rollout.settings import Settings
from rollout.templates import TemplateError

AT_ONCE = 4
"""How many runs are executed at once."""

_LEASE = 30.0
_BETWEEN_BEATS = 5.0
_BETWEEN_LOOKS = 2.0
_LONGEST_OUTAGE = 600.0

_HERE = f"{socket.gethostname()[:24]} "

_log = logging.getLogger("rollout")


class Runner:
    """Executes runs of a store, until it is closed."""

    def __init__(
        self,
        store: Store,
        *,
        settings: Settings | None = None,
        executor: str = "local",
        at_once: int = AT_ONCE,
        sandbox: str | None = None,
        only_asked: bool = False,
    ) -> None:
        """``settings`` say where models are asked; their keys are in this process's environment.

        With ``only_asked`` it executes what was begun or resumed here, and leaves alone what lies there: a command that
        lists runs is not to spend money on them. Raises ExecutorError.
        """
        self._store = store
        self.settings = settings or Settings()
        self._executor = find(executor)
        self._at_once = at_once
        self._sandbox = sandbox
        self._asked: dict[str, None] | None = {} if only_asked else None
        self._owner = f"{_HERE}{os.getpid()} {new_id()[:8]}"
        self._active: dict[str, _Execution] = {}
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self.changed = Changes()
        self.finished = 0

    @property
    def under_way(self) -> int:
        """How many rollouts are done at this moment, at most."""
        return sum(min(each.concurrency, each.left) for each in self._active.values())

    async def start(self) -> None:
        """Begins to look for runs."""
        await self._free_those_of_the_dead()
        self._loop = asyncio.create_task(self._look())

    def wake(self, run_id: str) -> None:
        """A run is to be executed."""
        if self._asked is not None:
            self._asked[run_id] = None
        self._wake.set()

    def nudge(self, run_id: str) -> None:
        """Has a run looked at now, if it is executed here: somebody has asked for it to be cancelled."""
        if (execution := self._active.get(run_id)) is not None:
            execution.nudged.set()

    async def close(self) -> None:
        """Gives up what is under way and gives the runs back; whoever takes them does the rest."""
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        tasks = [each.task for each in self._active.values() if each.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _free_those_of_the_dead(self) -> None:
        """What a process of this machine held that was killed need not wait until its lease runs out."""
        for run_id, owner in await self._store.aread(runs.held):
            pid = owner.removeprefix(_HERE).partition(" ")[0]
            if owner.startswith(_HERE) and pid.isdigit() and not _is_alive(int(pid)):
                await self._store.awrite(runs.release, run_id, owner)

    async def _look(self) -> None:
        while True:
            self._wake.clear()
            try:
                while len(self._active) < self._at_once and (run := await self._lease()) is not None:
                    self._begin(run)
            except StoreError as error:
                _log.error("%s", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(_BETWEEN_LOOKS):
                    await self._wake.wait()

    async def _lease(self) -> Run | None:
        if self._asked is None:
            return await self._store.awrite(runs.lease, self._owner, _LEASE)
        for run_id in list(self._asked):
            run = await self._store.awrite(runs.lease, self._owner, _LEASE, only=run_id)
            if run is not None:
                del self._asked[run_id]
                return run
        return None

    def _begin(self, run: Run) -> None:
        execution = _Execution(self, self._store, run, self._owner)
        self._active[run.id] = execution
        execution.task = asyncio.create_task(execution.run())

        def ended(task: asyncio.Task[None]) -> None:
            del self._active[run.id]
            self._wake.set()
            if not task.cancelled() and (error := task.exception()) is not None:
                _log.error("The run %s broke down", run.id, exc_info=error)

        execution.task.add_done_callback(ended)

    @property
    def sandbox(self) -> str | None:
        """The kind of sandbox that commands run in; None for the usual one."""
        return self._sandbox

    @property
    def setup(self) -> Setup:
        """What providers are asked with."""
        return Setup(self.settings)

    async def check_model(self, model: str) -> None:
        """Raises ConnectError where there is no such model, or it cannot be asked from here."""
        await connect(model, self.setup).close()

    def recipe(self, environment: Environment, run: Run, concurrency: int) -> Recipe:
        """All that the rollouts of a run depend on besides their task."""
        options = run.options
        return Recipe(
            environment,
            run.model,
            Sampling(
                options.get("temperature"),
                options.get("topP"),
                options.get("seed"),
                options.get("maxTokens"),
            ),
            options["maxToolCalls"],
            options.get("timeout"),
            Setup(self.settings, concurrency=concurrency),
            self._sandbox,
        )

    def start_executor(self, recipe: Recipe, *, concurrency: int, budget: Budget) -> Any:
        """The executor of a run. Raises ExecutorError, ConnectError, TemplateError and SandboxError."""
        return self._executor.start(
            recipe, concurrency=concurrency, budget=budget, tell=lambda sentence: _log.warning("%s", sentence)
        )


class Changes:
    """Tells those who follow a run in this process that it has changed."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Event]] = {}

    def tell(self, run_id: str) -> None:
        """The run has changed."""
        for event in self._waiting.get(run_id, ()):
            event.set()

    async def wait(self, run_id: str, seconds: float) -> None:
        """Waits for a change, but not longer: another process may be the one that executes the run."""
        event = asyncio.Event()
        waiting = self._waiting.setdefault(run_id, set())
        waiting.add(event)
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await event.wait()
        finally:
            waiting.discard(event)
            if not waiting:
                self._waiting.pop(run_id, None)


class _CancelledError(Exception):
    """Somebody asked for the run to be cancelled."""


class _Execution:
    """One run, executed."""

    def __init__(self, runner: Runner, store: Store, run: Run, owner: str) -> None:
        self.task: asyncio.Task[None] | None = None
        self.concurrency = int(run.options.get("concurrency") or CONCURRENCY)
        self.left = run.total
        self.nudged = asyncio.Event()
        self._runner = runner
        self._store = store
        self._run = run
        self._owner = owner
        self._usage = Usage(**run.usage) if run.usage else Usage()
        self._waiting: list[tuple[Finished, asyncio.Future[None]]] = []
        self._written = asyncio.Event()

    async def run(self) -> None:
        """Does what is left of the run, and ends it or gives it back."""
        run = self._run
        try:
            stop = await self._all()
        except NotHeldError:
            # Somebody else goes on with it: this process was away for too long.
            return
        except _CancelledError:
            await self._end(Status.CANCELLED, "It was cancelled.")
        except (ConnectError, ExecutorError, TemplateError, SandboxError, _ChangedError) as error:
            await self._end(Status.FAILED, str(error))
        except StoreError as error:
            _log.error("The run %s is given up for now. %s", run.id, error)
        except asyncio.CancelledError:
            with suppress(StoreError):
                await self._store.awrite(runs.release, run.id, self._owner)
            raise
        except Exception as error:
            _log.error("The run %s broke down", run.id, exc_info=error)
            await self._end(Status.FAILED, f"The server broke down over it: {type(error).__name__}.")
        else:
            await self._end(Status.DONE if stop is None else Status.FAILED, stop.sentence if stop else None)

    async def _all(self) -> Stop | None:
        run = self._run
        data = await self._store.aread(environments.data, run.environment_id, run.digest)
        assert data is not None
        environment = with_own_keys(environment_of(orjson.loads(data)))
        recipe = self._runner.recipe(environment, run, self.concurrency)
        await self._check_inputs(recipe)
        done = await self._store.aread(rollouts.places, run.id)
        todo = [place for place in places(environment, run.options) if place not in done]
        self.left = len(todo)
        budget = Budget(max_cost=run.options.get("budgetCost"), max_tokens=run.options.get("budgetTokens"))
        budget.charge(self._usage)
        executor = self._runner.start_executor(recipe, concurrency=self.concurrency, budget=budget)
        # Trials of a task are known by their number, and tasks by their place.
        self._index = {task.key: index for index, task in enumerate(environment.tasks)}
        jobs = (Job(environment.tasks[index], trial) for index, trial in todo)
        return await self._watched(executor, jobs)

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
        self._usage += line.done.usage + _judging(line.done)
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
            except StoreError:
                if not patiently or waited > _LONGEST_OUTAGE:
                    raise
                await asyncio.sleep(pause)
                waited, pause = waited + pause, min(10.0, pause * 2)
            except asyncio.CancelledError:
                self._waiting = [*batch, *self._waiting]
                raise
        self.left -= len(batch)
        self._runner.finished += len(batch)
        self._runner.changed.tell(self._run.id)
        for _, written in batch:
            if not written.done():
                written.set_result(None)

    async def _beat(self) -> None:
        """Holds the run. Raises NotHeldError when it is somebody else's, and _CancelledError when it is to end."""
        while True:
            try:
                run = await self._store.awrite(runs.renew, self._run.id, self._owner, _LEASE)
            except StoreError as error:
                _log.error("%s", error)
            else:
                if run is None:
                    raise NotHeldError
                if run.cancel_requested:
                    raise _CancelledError
            self.nudged.clear()
            with suppress(TimeoutError):
                async with asyncio.timeout(_BETWEEN_BEATS):
                    await self.nudged.wait()

    async def _end(self, status: Status, reason: str | None) -> None:
        try:
            await self._store.awrite(runs.end, self._run.id, self._owner, status, reason)
        except StoreError as error:
            # Its lease runs out, and whoever takes it finds nothing left to do.
            _log.error("%s", error)
        self._runner.changed.tell(self._run.id)


class _ChangedError(Exception):
    """The run cannot be gone on with as it was begun; the text is a sentence."""


def _is_alive(pid: int) -> bool:
    if pid == os.getpid():
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def with_own_keys(environment: Environment) -> Environment:
    """The environment, whose tasks all have keys of their own: two that say the same are told apart by a number."""
    seen: dict[str, int] = {}
    tasks: list[Task] = []
    for task in environment.tasks:
        number = seen[task.key] = seen.get(task.key, 0) + 1
        tasks.append(task if number == 1 else replace(task, id=f"{task.key}-{number}"))
    return replace(environment, tasks=tasks)


def places(environment: Environment, options: dict[str, Any]) -> Iterator[tuple[int, int]]:
    """The task index and trial of each rollout of a run: each task once, then each a second time, and so on."""
    chosen = chosen_tasks(environment, options)
    return ((index, trial) for trial in range(options["n"]) for index in chosen)


def chosen_tasks(environment: Environment, options: dict[str, Any]) -> list[int]:
    """The indexes of the tasks that a run is of."""
    split, wanted, limit = options.get("split"), options.get("tasks"), options.get("limit")
    found = [
        index
        for index, task in enumerate(environment.tasks)
        if (split is None or task.split == split) and (wanted is None or task.key in wanted)
    ]
    return found[:limit]


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


__all__ = ["AT_ONCE", "Changes", "Runner", "chosen_tasks", "finished_of", "places", "with_own_keys"]
