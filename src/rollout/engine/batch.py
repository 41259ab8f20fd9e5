"""Many rollouts at once: so many workers over one list of what is to do, none of which stops another.

A rollout that breaks is data. What infrastructure broke is tried again, within a bound, and the failed attempts are
kept beside the rollout. Memory does not grow with the number of rollouts: a worker has one at a time and hands it on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Literal, cast

from rollout.engine import Failure, Grader, Outcome, Rollout, Trace, Verdict, Workflow
from rollout.engine.budget import Budget
from rollout.environment import Task
from rollout.models import AnyModel, ModelError, Turn, Usage

CONCURRENCY = 16
"""How many rollouts go on at once, unless told otherwise."""

ATTEMPTS = 2
"""How often a rollout is tried that infrastructure breaks. A model elsewhere is asked again within each attempt."""


@dataclass(frozen=True, slots=True)
class Job:
    """One rollout to do. It is known by its task's key and its trial, which counts from 0."""

    task: Task
    trial: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """An attempt that infrastructure broke: what happened, and what it used."""

    failure: Failure
    usage: Usage
    seconds: float


@dataclass(frozen=True, slots=True)
class Done:
    """A finished rollout, with the attempts that failed before it."""

    job: Job
    rollout: Rollout
    earlier: tuple[Attempt, ...] = ()

    @property
    def usage(self) -> Usage:
        """What all attempts used, judges not counted."""
        return sum((attempt.usage for attempt in self.earlier), self.rollout.trace.usage)


@dataclass(frozen=True, slots=True)
class Stop:
    """Why a run ended before all was done, in a sentence. ``hint`` is the way out."""

    cause: Literal["budget", "hopeless", "infrastructure"]
    sentence: str
    hint: str | None = None


Finish = Callable[[Done], Awaitable[None]]
"""Takes a finished rollout. It may make its worker wait; what it raises ends the run."""


def jobs(tasks: Sequence[Task], trials: int = 1) -> Iterator[Job]:
    """Each task once, then each a second time, and so on: a run that is cut short has tried them all alike."""
    return (Job(task, trial) for trial in range(trials) for task in tasks)


class Batch:
    """Runs jobs with one workflow, grader and model; made for one run.

    ``budget`` ends the run when it is spent: rollouts under way are dropped, and so they are when the run is cancelled.
    What a judge uses is charged to it as well. A model's error that every other request would meet too ends the run
    after the rollouts that are under way.
    """

    def __init__(
        self,
        workflow: Workflow,
        grader: Grader,
        model: AnyModel,
        *,
        concurrency: int = CONCURRENCY,
        attempts: int = ATTEMPTS,
        budget: Budget | None = None,
    ) -> None:
        if concurrency < 1 or attempts < 1:
            raise ValueError("At least one rollout at a time, and at least one attempt.")
        self.workflow = workflow
        self.grader = grader
        self.model = model
        self.concurrency = concurrency
        self.attempts = attempts
        self.budget = budget or Budget()
        self.stop: Stop | None = None
        self._watched = cast(AnyModel, _Watched(model, self))

    async def run(self, jobs: Iterable[Job], finish: Finish) -> Stop | None:
        """Does all jobs, in any order, and hands on each as it is finished. Says why when some were not done.

        Raises what ``finish`` raises.
        """
        remaining = iter(jobs)
        workers: list[asyncio.Task[None]] = []
        try:
            # Each begins with a job of its own, so that there are no more workers than jobs.
            for job in islice(remaining, self.concurrency):
                workers.append(asyncio.create_task(self._work(chain((job,), remaining), finish)))
            await asyncio.gather(*workers)
        finally:
            for worker in workers:
                worker.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
        return self.stop

    async def one(self, job: Job) -> Done | None:
        """Does one job; None when the run was ended on the way."""
        try:
            return await self._do(job)
        except _StoppedError:
            return None

    async def _work(self, remaining: Iterator[Job], finish: Finish) -> None:
        while self.stop is None and (job := next(remaining, None)) is not None:
            done = await self.one(job)
            if done is None:
                return
            await finish(done)
            # Models on this machine never wait, and the others would not come to it.
            await asyncio.sleep(0)

    async def _do(self, job: Job) -> Done:
        earlier: list[Attempt] = []
        model = self._watched
        trace = await self._act(job, model)
        while trace.failure is not None and self._may_try_again(trace.failure, earlier, trace.seconds):
            earlier.append(Attempt(trace.failure, trace.usage, trace.seconds))
            trace = await self._act(job, model)
        verdict = await self._judge(job.task, trace)
        while (
            trace.failure is None
            and verdict.failure is not None
            and self._may_try_again(verdict.failure, earlier)
        ):
            # The trace is good: only the judging is done again.
            earlier.append(Attempt(verdict.failure, verdict.usage, 0.0))
            verdict = await self._judge(job.task, trace)
        return Done(job, Rollout(trace, verdict), tuple(earlier))

    def _may_try_again(self, failure: Failure, earlier: list[Attempt], seconds: float = 0.0) -> bool:
        if failure.charged_to != "infrastructure" or len(earlier) + 1 >= self.attempts:
            return False
        # Another attempt is in vain when the run is ending, and not allowed when the time for a rollout is used up.
        limit = getattr(self.workflow, "seconds", None)
        return self.stop is None and (limit is None or seconds < limit)

    async def _act(self, job: Job, model: AnyModel) -> Trace:
        try:
            return await self.workflow.run(job.task, model, trial=job.trial)
        except Exception as error:
            failure = Failure(f"The workflow broke down: {type(error).__name__}: {error}", "environment")
            return blank(job, self.model.id, failure)

    async def _judge(self, task: Task, trace: Trace) -> Verdict:
        if trace.failure is not None:
            return Verdict(Outcome.ERROR, None, failure=trace.failure)
        try:
            verdict = await self.grader.grade(task, trace)
        except Exception as error:
            failure = Failure(f"The grader broke down: {type(error).__name__}: {error}", "verifier")
            return Verdict(Outcome.ERROR, None, failure=failure)
        if verdict.marks:
            self.charge(verdict.usage)
        return verdict

    def charge(self, usage: Usage) -> None:
        """Charges the budget; once it is spent, no model is asked any more."""
        if not usage.is_nothing:
            self.budget.charge(usage)


class _StoppedError(BaseException):
    """Gives up a rollout under way. No ``except Exception`` on its way may take it for a fault of the model's."""


class _Watched:
    """A model whose use is charged, and which is not asked any more once the budget is spent."""

    def __init__(self, model: AnyModel, batch: Batch) -> None:
        self.id = model.id
        self.insider = getattr(model, "insider", False)
        self._model = model
        self._batch = batch

    async def respond(self, request: Any) -> Turn:
        """As the model; ends the rollout where the budget is spent."""
        batch = self._batch
        if (spent := batch.budget.spent) is not None:
            batch.stop = batch.stop or Stop("budget", spent)
            raise _StoppedError
        try:
            turn = await self._model.respond(request)
        except ModelError as error:
            if error.exchange is not None:
                batch.charge(error.exchange.usage)
            if error.hopeless:
                stop = Stop("hopeless", str(error), error.hint)
                if batch.stop == stop:
                    # One rollout tells it. The others under way are no worse for it, and are still to be done.
                    raise _StoppedError from None
                batch.stop = batch.stop or stop
            raise
        batch.charge(turn.usage)
        return turn

    async def close(self) -> None:
        """The model is closed by whoever connected it."""


def blank(job: Job, model_id: str, failure: Failure) -> Trace:
    """The trace of a rollout of which nothing is known but that it failed."""
    return Trace(
        environment="",
        template="",
        task=job.task.key,
        model=model_id,
        messages=(),
        calls=(),
        initial_state={},
        final_state={},
        final_output="",
        ending="failure",
        usage=Usage(),
        failure=failure,
        trial=job.trial,
    )


__all__ = ["ATTEMPTS", "CONCURRENCY", "Attempt", "Batch", "Done", "Finish", "Job", "Stop", "blank", "jobs"]
