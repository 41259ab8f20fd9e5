"""Looks for queued runs and has them executed, with the engine that `rollout test` has.

A run is held by a lease that is renewed while it is executed. A server that is killed does not renew it, so another,
or the same one after its restart, takes the run and does what is not done.
"""

from __future__ import annotations

import asyncio
import logging
import time
from contextlib import suppress
from typing import Any

from rollout.engine.budget import Budget
from rollout.engine.executors import Recipe, find
from rollout.environment import Environment
from rollout.models import Sampling, Setup, connect
from rollout.platform.server.changes import Changes
from rollout.platform.server.confinement import confined
from rollout.platform.server.execution import LEASE, Execution
from rollout.platform.server.figures import Figures
from rollout.platform.server.processes import is_gone, this_process
from rollout.platform.store import Store, StoreError, runs
from rollout.platform.store.ids import new_id, now
from rollout.platform.store.runs import Run
from rollout.settings import Settings

AT_ONCE = 4
"""How many runs are executed at once."""

SECONDS_TO_DRAIN = 20.0
"""How long a server that is stopped lets the rollouts that are under way come to their end."""

_BETWEEN_LOOKS = 2.0
_BETWEEN_GLANCES = 0.05
_SURELY_GONE = 600.0
"""Seconds after which whoever lets a run go unrenewed is taken for gone, whatever process has its number now."""

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
        lists runs is not to spend money on them; and since those are the user's own, so is the choice of a sandbox.
        Else commands are confined, whatever the environment says. Raises ExecutorError and SandboxError.
        """
        self._store = store
        self.settings = settings or Settings()
        self._executor = find(executor)
        self._at_once = at_once
        self._sandbox = sandbox if only_asked else confined(sandbox)
        self._asked: dict[str, None] | None = {} if only_asked else None
        self._owner = f"{runs.OWN if only_asked else ''}{this_process()} {new_id()[:8]}"
        self._active: dict[str, Execution] = {}
        self._wake = asyncio.Event()
        self._loop: asyncio.Task[None] | None = None
        self._drained_by: float | None = None
        self.changed = Changes()
        self.figures = Figures()

    @property
    def under_way(self) -> int:
        """How many rollouts are done at this moment, at most."""
        return sum(min(each.concurrency, each.left) for each in self._active.values())

    async def start(self) -> None:
        """Begins to look for runs."""
        try:
            await self._free_those_of_the_dead()
        except StoreError as error:
            # They are free when their leases run out.
            _log.error("%s", error)
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

    @property
    def is_draining(self) -> bool:
        """Whether no rollout is begun any more."""
        return self._drained_by is not None

    def drain(self) -> None:
        """Begins no other rollout, and lets those under way come to their end, for some seconds. A second time: for
        none."""
        self._drained_by = time.monotonic() + (0.0 if self.is_draining else SECONDS_TO_DRAIN)
        self._wake.set()
        for execution in self._active.values():
            execution.leave()

    async def close(self) -> None:
        """Finishes what is under way, where it is drained, and gives the runs back; whoever takes them does the rest.

        With ``only_asked`` they are ended, also those that were not begun yet: nobody goes on with them unasked.
        """
        while self._active and self._drained_by is not None and time.monotonic() < self._drained_by:
            await asyncio.sleep(_BETWEEN_GLANCES)
        if self._loop is not None:
            self._loop.cancel()
            await asyncio.gather(self._loop, return_exceptions=True)
        tasks = [each.task for each in self._active.values() if each.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for run_id in self._asked or ():
            with suppress(StoreError):
                await self._store.awrite(runs.release, run_id, self._owner)

    @property
    def reserves_for(self) -> str | None:
        """Whom a run is for alone that is begun here; None for whoever takes it."""
        return None if self._asked is None else self._owner

    def leaves_alone(self, run: Run) -> bool:
        """Whether a run that is not over is executed by nobody, and will not be unless somebody asks for it here."""
        if self._asked is None or run.id in self._asked or run.id in self._active:
            return False
        is_held = run.lease_until is not None and run.lease_until >= now()
        return not is_held and (
            run.owner is None or not run.owner.startswith(runs.OWN) or _is_gone(run.owner)
        )

    def executes(self, run_id: str) -> bool:
        """Whether a run is executed here at this moment, or is about to be."""
        return run_id in self._active or run_id in (self._asked or ())

    async def _free_those_of_the_dead(self) -> None:
        """What a process of this host held that was killed need not wait until its lease runs out."""
        for run_id, owner, until in await self._store.aread(runs.held):
            # A number is given again, and another host's cannot be asked for.
            is_forgotten = until is not None and now() - until > _SURELY_GONE * 1000
            if _is_gone(owner) or is_forgotten:
                await self._store.awrite(runs.free, run_id, owner, until)

    async def _look(self) -> None:
        freed = time.monotonic()
        while True:
            self._wake.clear()
            try:
                if time.monotonic() - freed > LEASE:
                    await self._free_those_of_the_dead()
                    freed = time.monotonic()
                while (
                    not self.is_draining
                    and len(self._active) < self._at_once
                    and (run := await self._lease()) is not None
                ):
                    self._begin(run)
            except StoreError as error:
                _log.error("%s", error)
            with suppress(TimeoutError):
                async with asyncio.timeout(_BETWEEN_LOOKS):
                    await self._wake.wait()

    async def _lease(self) -> Run | None:
        if self._asked is None:
            return await self._store.awrite(runs.lease, self._owner, LEASE)
        for run_id in list(self._asked):
            run = await self._store.awrite(runs.lease, self._owner, LEASE, only=run_id)
            if run is not None:
                del self._asked[run_id]
                return run
        return None

    def _begin(self, run: Run) -> None:
        execution = Execution(self, self._store, run, self._owner)
        if self.is_draining:
            execution.leave()
        self._active[run.id] = execution
        execution.task = asyncio.create_task(execution.run())

        def ended(task: asyncio.Task[None]) -> None:
            del self._active[run.id]
            self._wake.set()
            if not task.cancelled() and (error := task.exception()) is not None:
                _log.error("The run %s broke down", run.id, exc_info=error)

        execution.task.add_done_callback(ended)

    def wrote(self, run_id: str) -> None:
        """Tells those who follow a run that it has changed."""
        self.changed.tell(run_id)

    @property
    def sandbox(self) -> str | None:
        """The kind of sandbox that commands run in; None for the user's choice, as in `rollout test`."""
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


def _is_gone(owner: str) -> bool:
    return is_gone(owner.removeprefix(runs.OWN))


__all__ = ["AT_ONCE", "Runner"]
