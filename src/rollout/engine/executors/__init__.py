"""Executors: where the rollouts of a run are done. One file each, found by the first part of what is asked for.

An executor's module has ``start(address, recipe, *, concurrency, budget, tell) -> Executor`` and ``check(address)``,
which looks no further than at what is installed. Every executor makes workflow, grader and model by
:meth:`Recipe.furnish`, so that a rollout is the same one wherever it is done.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import ModuleType
from typing import Protocol

from rollout.engine.batch import Finish, Job, Stop
from rollout.engine.budget import Budget
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import MOST_TOOL_CALLS, EnvironmentWorkflow
from rollout.environment import Environment
from rollout.family import member, members
from rollout.models import AnyModel, Sampling, Setup, connect
from rollout.source.contract import sandboxed_templates


class ExecutorError(ValueError):
    """An executor that cannot be had; its text is a sentence, ``hint`` the way out."""

    def __init__(self, sentence: str, hint: str | None = None) -> None:
        super().__init__(sentence)
        self.hint = hint


class AbsentError(ExecutorError):
    """An executor that was rightly asked for, and is not there: what it needs is not installed, or does not answer."""


@dataclass(frozen=True, slots=True)
class Furnished:
    """What rollouts are made of, on the machine where they are done."""

    workflow: EnvironmentWorkflow
    grader: VerifierGrader
    model: AnyModel

    @property
    def only_waits(self) -> bool:
        """Whether a model elsewhere is waited for and no commands are started, so that uvloop is worth its while."""
        insider = getattr(self.model, "insider", False) is True
        return not insider and self.workflow.environment.template not in sandboxed_templates()

    async def close(self) -> None:
        """Gives back connections; call it in the event loop that used them."""
        await self.model.close()
        await self.grader.close()


@dataclass(frozen=True, slots=True)
class Recipe:
    """All that a rollout depends on besides its task and trial.

    ``seconds`` is how long a rollout may take. ``sandbox`` is the kind that was asked for; None leaves the choice to
    the machine where commands run.
    """

    environment: Environment
    model: str
    sampling: Sampling = field(default_factory=Sampling)
    max_tool_calls: int = MOST_TOOL_CALLS
    seconds: float | None = None
    setup: Setup = field(default_factory=Setup)
    sandbox: str | None = None

    def furnish(self) -> Furnished:
        """Workflow, grader and model, ready on this machine. Raises ConnectError and TemplateError."""
        model = connect(self.model, self.setup)
        workflow = EnvironmentWorkflow(
            self.environment,
            max_tool_calls=self.max_tool_calls,
            sampling=self.sampling,
            seconds=self.seconds,
        )
        return Furnished(workflow, VerifierGrader(self.environment, setup=self.setup), model)


class Executor(Protocol):
    """Does the rollouts of one run."""

    @property
    def stop(self) -> Stop | None:
        """Why the run ended before all was done; None while there is no reason to."""

    @property
    def only_waits(self) -> bool:
        """Whether the event loop does little but wait for the network."""

    async def run(self, jobs: Iterable[Job], finish: Finish) -> Stop | None:
        """Does all jobs, in any order, and hands on each as it is finished. Says why when some were not done.

        Raises what ``finish`` raises. When it is cancelled, what is under way is given up.
        """

    async def close(self) -> None:
        """Gives back whatever it holds."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An executor that was asked for, and there is."""

    module: ModuleType
    address: str

    def start(
        self,
        recipe: Recipe,
        *,
        concurrency: int,
        budget: Budget,
        tell: Callable[[str], None] = lambda sentence: None,
    ) -> Executor:
        """The executor, ready to run. ``tell`` takes sentences about what goes wrong without ending the run.

        Raises ExecutorError, and ConnectError and TemplateError for what cannot be run anywhere.
        """
        executor: Executor = self.module.start(
            self.address, recipe, concurrency=concurrency, budget=budget, tell=tell
        )
        return executor


def find(asked: str) -> Asked:
    """The executor that ``NAME`` or ``NAME:ADDRESS`` asks for. Raises ExecutorError."""
    name, _, address = asked.strip().partition(":")
    module = member(__name__, name) if name else None
    if module is None:
        known = ", ".join(members(__name__))
        raise ExecutorError(f"There is no executor “{asked}”.", f"There are {known}; ray takes an address.")
    module.check(address)
    return Asked(module, address)


__all__ = ["AbsentError", "Asked", "Executor", "ExecutorError", "Furnished", "Recipe", "find"]
