"""local: rollouts are done in this process, so many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from rollout.engine.batch import Batch, Finish, Job, Stop
from rollout.engine.budget import Budget
from rollout.engine.executors import ExecutorError, Furnished, Recipe
from rollout.sandbox import chosen


def check(address: str) -> None:
    """Raises ExecutorError for an address: this machine has none."""
    if address:
        raise ExecutorError(
            f"“local” takes no address, and “{address}” was given.", "Write --executor local."
        )


def start(
    address: str, recipe: Recipe, *, concurrency: int, budget: Budget, tell: Callable[[str], None]
) -> LocalExecutor:
    """The executor on this machine. Raises ConnectError and TemplateError."""
    return LocalExecutor(recipe.furnish(), concurrency=concurrency, budget=budget, sandbox=recipe.sandbox)


class LocalExecutor:
    """A batch in this process."""

    def __init__(
        self, furnished: Furnished, *, concurrency: int, budget: Budget, sandbox: str | None = None
    ) -> None:
        self._furnished = furnished
        self._sandbox = sandbox
        # A person acts in one rollout at a time.
        self._batch = Batch(
            furnished.workflow,
            furnished.grader,
            furnished.model,
            concurrency=min(concurrency, getattr(furnished.model, "most_at_once", concurrency)),
            budget=budget,
        )

    @property
    def stop(self) -> Stop | None:
        """Why the run ended before all was done."""
        return self._batch.stop

    @property
    def only_waits(self) -> bool:
        """Whether a model elsewhere is waited for and no commands are started."""
        return self._furnished.only_waits

    async def run(self, jobs: Iterable[Job], finish: Finish) -> Stop | None:
        """Does all jobs; see :meth:`rollout.engine.batch.Batch.run`."""
        with chosen(self._sandbox):
            return await self._batch.run(jobs, finish)

    async def close(self) -> None:
        """Closes the models."""
        await self._furnished.close()


__all__ = ["LocalExecutor", "check", "start"]
