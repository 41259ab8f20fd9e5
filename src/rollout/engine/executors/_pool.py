"""The near end of a run on a cluster: hands jobs to workers one by one, and starts others for those that are lost.

At any time no more rollouts are under way than the run's concurrency, so memory does not grow with their number. A
rollout whose worker is lost is done again by another; what a worker that was given up may still finish counts for
nothing, so that no rollout is counted twice.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, islice
from math import ceil
from typing import Any

import rollout
from rollout.engine import Failure, Outcome, Rollout, Verdict
from rollout.engine.batch import Attempt, Done, Finish, Job, Stop, blank
from rollout.engine.budget import Budget
from rollout.engine.executors._cluster import Cluster, LostError
from rollout.engine.executors._parcel import Parcel, pack_task, read_done
from rollout.engine.executors._worker import Worker
from rollout.models import Usage

LIVES = 3
"""How many workers may be lost over one rollout, before it is charged to the infrastructure."""

PATIENCE = 60.0
"""How many seconds a run goes on without any worker, unless told otherwise."""

_BETWEEN_LOOKS = 2.0
_SECONDS_TO_START = 10.0
_LONGEST_PAUSE = 30.0
_SECONDS_TO_CLOSE = 5.0


@dataclass(slots=True, eq=False)
class _Far:
    """A worker, as seen from here: how to reach it, where it is, how many rollouts it has."""

    actor: Any
    host: str = ""
    busy: int = 0
    lost: bool = False


class Pool:
    """Runs jobs on the workers of a cluster; made for one run.

    ``tell`` takes a sentence for each worker that is lost or cannot be used. ``patience`` is how many seconds the run
    goes on without any worker. A budget is charged with what workers tell a few times a second, so a run may end a few
    turns further above it than on one machine.
    """

    only_waits = False

    def __init__(
        self,
        cluster: Cluster,
        parcel: Parcel,
        *,
        model: str,
        concurrency: int,
        budget: Budget,
        tell: Callable[[str], None],
        patience: float | None = None,
        version: str = rollout.__version__,
    ) -> None:
        self.stop: Stop | None = None
        self._cluster = cluster
        self._parcel = parcel
        self._model = model
        self._concurrency = concurrency
        self._budget = budget
        self._tell = tell
        self._patience = PATIENCE if patience is None else patience
        self._version = version
        self._workers: list[_Far] = []
        self._starting: dict[asyncio.Task[None], float] = {}
        self._watching: set[asyncio.Task[None]] = set()
        self._active = 0
        self._failures = 0
        self._why = ""
        self._refused = False
        self._room = asyncio.Event()
        self._look = asyncio.Event()
        ray = cluster.ray
        self._far_type = ray.remote(Worker)
        # Large environments are kept once on each machine. Keys are not: what is kept may be written to a disk.
        self._data = ray.put(parcel.data)

    async def run(self, jobs: Iterable[Job], finish: Finish) -> Stop | None:
        """Does all jobs, in any order, and hands on each as it is finished. Says why when some were not done.

        Raises what ``finish`` raises. When it is cancelled, so is what workers have under way.
        """
        remaining = iter(jobs)
        # Each begins with a job of its own, so that there are no more feeders than jobs.
        feeders = [
            asyncio.create_task(self._feed(chain((job,), remaining), finish))
            for job in islice(remaining, self._concurrency)
        ]
        keeper = asyncio.create_task(self._keep())
        fed = asyncio.gather(*feeders)
        try:
            await asyncio.wait((fed, keeper), return_when=asyncio.FIRST_COMPLETED)
            if fed.done():
                fed.result()
            else:
                keeper.result()
        finally:
            ours = (*feeders, keeper, *self._starting, *self._watching)
            for task in ours:
                task.cancel()
            await asyncio.gather(*ours, fed, return_exceptions=True)
        return self.stop

    async def close(self) -> None:
        """Ends all workers and leaves the cluster."""
        calls = [asyncio.ensure_future(_called(far.actor.close.remote())) for far in self._workers]
        if calls:
            await asyncio.wait(calls, timeout=_SECONDS_TO_CLOSE)
        for call in calls:
            call.cancel()
        for far in self._workers:
            self._kill(far)
        self._workers = []
        await self._cluster.leave()

    async def _feed(self, remaining: Iterator[Job], finish: Finish) -> None:
        while self.stop is None and (job := next(remaining, None)) is not None:
            if (spent := self._budget.spent) is not None:
                return self._end(Stop("budget", spent))
            self._active += 1
            try:
                done = await self._do(job)
            finally:
                self._active -= 1
            if done is None:
                return None
            await finish(done)
        return None

    async def _do(self, job: Job) -> Done | None:
        """The finished job; None when the run was ended on the way."""
        task = pack_task(job.task)
        lost: list[Attempt] = []
        while (far := await self._free()) is not None:
            try:
                line, told = await far.actor.do.remote(task, job.trial)
            except self._cluster.ray.exceptions.RayError as error:
                sentence = f"The worker on {far.host} that did the rollout was lost: {_first_line(error)}."
                self._lose(far)
                failure = Failure(sentence, "infrastructure")
                if len(lost) + 1 == LIVES:
                    return self._given_up(job, failure, lost)
                lost.append(Attempt(failure, Usage(), 0.0))
                continue
            finally:
                far.busy -= 1
                self._room.set()
            if told is not None:
                self._end(Stop(*told))
            if line is not None:
                return self._read(job, line, lost)
            if self.stop is None:
                raise RuntimeError(f"The worker on {far.host} dropped a rollout without a reason.")
            return None
        return None

    def _read(self, job: Job, line: bytes, lost: list[Attempt]) -> Done:
        try:
            return read_done(job, line, tuple(lost))
        except (KeyError, TypeError, ValueError) as error:
            sentence = f"A worker's answer could not be read: {type(error).__name__}: {error}."
            failure = Failure(sentence, "infrastructure")
            return self._given_up(job, failure, lost)

    def _given_up(self, job: Job, failure: Failure, lost: list[Attempt]) -> Done:
        verdict = Verdict(Outcome.ERROR, None, failure=failure)
        return Done(job, Rollout(blank(job, self._model, failure), verdict), tuple(lost))

    async def _free(self) -> _Far | None:
        """The worker that has least to do, once there is one with room; None when the run is to end."""
        while self.stop is None:
            most = ceil(self._concurrency / max(1, len(self._workers) + self._expected))
            far = min(self._workers, key=lambda each: each.busy, default=None)
            if far is not None and far.busy < most:
                far.busy += 1
                return far
            self._look.set()
            self._room.clear()
            await self._room.wait()
        return None

    @property
    def _expected(self) -> int:
        """How many workers that are being started are kept work for.

        One that has not come for long waits for a processor, which others may have for hours, or whose machine is gone.
        """
        latest = asyncio.get_running_loop().time() - _SECONDS_TO_START
        return sum(begun > latest for begun in self._starting.values())

    async def _keep(self) -> None:
        """Starts workers as they are wanted, until there are none for too long, or the cluster is lost."""
        loop = asyncio.get_running_loop()
        alone_since, not_before, failures = loop.time(), 0.0, 0
        while True:
            try:
                processors = await self._cluster.processors()
            except LostError:
                sentence = f"The head of {self._cluster.name} does not answer any more."
                return self._end(Stop("infrastructure", sentence))
            if self._workers:
                alone_since = loop.time()
            elif self._refused and not self._starting:
                return self._end(Stop("infrastructure", self._why))
            elif loop.time() - alone_since > self._patience:
                return self._end(Stop("infrastructure", self._no_worker(processors)))
            if self._failures > failures:
                not_before = loop.time() + min(2.0 ** (self._failures - 1), _LONGEST_PAUSE)
            failures = self._failures
            if loop.time() >= not_before and self.stop is None:
                wanted = min(self._active, max(1, processors)) - len(self._workers) - len(self._starting)
                for _ in range(wanted):
                    task = asyncio.create_task(self._start())
                    self._starting[task] = loop.time()
                    task.add_done_callback(self._starting.pop)
            self._look.clear()
            try:
                async with asyncio.timeout(_BETWEEN_LOOKS):
                    await self._look.wait()
            except TimeoutError:
                # What was kept for a worker that does not come is there for the others by now.
                self._room.set()

    def _no_worker(self, processors: int) -> str:
        if processors == 0:
            return f"No machine of {self._cluster.name} that has processors is alive."
        why = self._why or "No processor is free."
        return f"No worker could be started on {self._cluster.name} within {self._patience:g} seconds. {why}"

    async def _start(self) -> None:
        far = _Far(
            self._far_type.options(
                num_cpus=1,
                max_restarts=0,
                max_task_retries=0,
                max_concurrency=self._concurrency + 16,
                scheduling_strategy="SPREAD",
                # Ray would remember each call, so that it could be looked at on a dashboard.
                enable_task_events=False,
            ).remote()
        )
        try:
            async with asyncio.timeout(self._patience):
                told = await far.actor.open.remote(
                    self._version, self._data, self._parcel.private, self._concurrency
                )
        except TimeoutError:
            return self._kill(far)
        except self._cluster.ray.exceptions.RayError as error:
            self._kill(far)
            missing = _missing(error)
            return self._cannot_use(missing or f"{_first_line(error)}.", for_good=missing is not None)
        except BaseException:
            self._kill(far)
            raise
        far.host = told["host"]
        if "refused" in told:
            self._kill(far)
            sentence = f"The worker on {far.host} cannot do these rollouts: {told['refused']}."
            return self._cannot_use(sentence, for_good=True)
        self._failures, self._why, self._refused = 0, "", False
        self._workers.append(far)
        self._room.set()
        if self._budget.max_cost is not None or self._budget.max_tokens is not None:
            task = asyncio.create_task(self._watch(far))
            self._watching.add(task)
            task.add_done_callback(self._watching.discard)
        return None

    def _cannot_use(self, sentence: str, *, for_good: bool) -> None:
        """Tells of a worker that did not start; ``for_good`` where another one there would not do so either."""
        self._refused = for_good
        if sentence != self._why and self._workers:
            self._tell(sentence)
        self._why = sentence
        self._failures += 1
        self._look.set()

    async def _watch(self, far: _Far) -> None:
        """Charges the budget with what a worker uses, turn by turn."""
        while not far.lost:
            try:
                used = await far.actor.spent.remote()
            except self._cluster.ray.exceptions.RayError:
                return
            usage = Usage(**used)
            if not usage.is_nothing:
                self._budget.charge(usage)
            if (spent := self._budget.spent) is not None:
                self._end(Stop("budget", spent))

    def _lose(self, far: _Far) -> None:
        if far.lost:
            return
        far.lost = True
        self._workers.remove(far)
        self._kill(far)
        several = "rollouts are" if far.busy > 1 else "rollout is"
        self._tell(f"The worker on {far.host} was lost; its {far.busy} {several} done again.")
        self._look.set()

    def _kill(self, far: _Far) -> None:
        with suppress(Exception):
            self._cluster.ray.kill(far.actor)

    def _end(self, stop: Stop) -> None:
        """Ends the run: no job is begun any more."""
        if self.stop is not None:
            return
        self.stop = stop
        self._room.set()
        for far in self._workers:
            with suppress(Exception):
                far.actor.halt.remote(stop.cause, stop.sentence, stop.hint)


async def _called(reference: Any) -> Any:
    return await reference


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0].rstrip(".:")[:200] or type(error).__name__


def _missing(error: BaseException) -> str | None:
    """What cannot be imported on the machine that a worker was to be started on."""
    for line in reversed(str(error).splitlines()):
        if line.startswith(("ModuleNotFoundError: ", "ImportError: ")):
            return (
                f"rollout cannot be imported on a machine of the cluster ({line.partition(': ')[2]}). "
                f"Install rolloutdev {rollout.__version__} on all of them."
            )
    return None


__all__ = ["LIVES", "PATIENCE", "Pool"]
