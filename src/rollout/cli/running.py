"""A run under way, as a command shows it: the executor, the journal, the progress and what is printed."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable

    from rollout.cli.progress import Progress
    from rollout.cli.report import Reporting
    from rollout.cli.run_output import RunOutput
    from rollout.cli.run_plan import Plan
    from rollout.engine.batch import Done, Stop
    from rollout.engine.executors import Asked, Executor, ExecutorError
    from rollout.models import Setup, Usage


class Running:
    """A run of a plan, from connecting the model to the summary."""

    def __init__(
        self,
        plan: Plan,
        asked: Asked,
        *,
        form: str,
        sandbox: str | None,
        concurrency: int,
        turn_timeout: float,
        max_cost: float | None,
        max_tokens: int | None,
        reporting: Reporting | None = None,
        spent: Usage | None = None,
        output: Callable[[Plan, Progress], RunOutput] | None = None,
    ) -> None:
        """``spent`` counts against the limits besides; ``output`` shows the run in another way than ``form``."""
        from rollout.cli.output import fail
        from rollout.cli.progress import progress
        from rollout.engine.budget import Budget
        from rollout.engine.executors import ExecutorError, Recipe
        from rollout.models import ConnectError, Patience, Setup
        from rollout.templates import TemplateError

        wishes = plan.wishes
        self.by_hand = plan.model == "human"
        setup = Setup(plan.settings, concurrency=concurrency, patience=Patience(call=turn_timeout))
        recipe = Recipe(
            plan.environment,
            plan.model,
            plan.sampling,
            wishes.max_tool_calls or 0,
            wishes.seconds,
            _seated(setup) if self.by_hand else setup,
            sandbox,
        )
        budget = Budget(max_cost=max_cost, max_tokens=max_tokens)
        budget.charge(plan.summary.usage + plan.summary.judge_usage)
        if spent is not None:
            budget.charge(spent)
        self.plan = plan
        self.reporting = reporting
        try:
            self.executor: Executor = asked.start(
                recipe, concurrency=concurrency, budget=budget, tell=self._tell
            )
        except ConnectError as error:
            fail(str(error), error.hint)
        except ExecutorError as error:
            fail_without_executor(error)
        except TemplateError as error:
            fail(f"{plan.label} cannot be run here. {error}")
        self.finished = 0
        self.to_do = sum(1 for _ in plan.left()) if plan.chosen else plan.planned
        self.progress = progress(plan.planned, plan.done_before, bar=not self.by_hand)
        self.output = _output(form, self) if output is None else output(plan, self.progress)

    @property
    def stop(self) -> Stop | None:
        """Why the run ended early."""
        return self.executor.stop

    @property
    def whole(self) -> bool:
        """Whether all that was to do is done."""
        return self.finished >= self.to_do

    def run(self) -> bool:
        """Does all that is left; whether it was interrupted."""
        import asyncio

        self.output.begin()
        try:
            with asyncio.Runner(loop_factory=self._loop_factory()) as runner:
                runner.run(self._run())
        except KeyboardInterrupt:
            return True
        finally:
            self.progress.stop()
        return False

    def _loop_factory(self) -> Callable[[], AbstractEventLoop] | None:
        """uvloop's, where it is installed and a model elsewhere is asked, whose turns cost a fifth less with it."""
        if self.by_hand or not self.executor.only_waits:
            return None
        try:
            from uvloop import new_event_loop
        except ImportError:
            return None
        return new_event_loop

    async def _run(self) -> None:
        journal = self.plan.journal
        try:
            await self.executor.run(self.plan.left(), self._finish)
        finally:
            # Also when it is interrupted: what is finished is kept.
            try:
                if journal is not None:
                    await journal.flush()
            finally:
                await self.executor.close()

    def _tell(self, sentence: str) -> None:
        from rollout.cli.output import note

        with self.progress.aside():
            note(f"note: {sentence}")

    async def _finish(self, done: Done) -> None:
        journal = self.plan.journal
        if journal is None and self.reporting is None:
            self._count(done)
            return
        from rollout.engine.rollout_line import encode

        line = encode(done)
        if journal is None:
            assert self.reporting is not None
            self.reporting.keep(line.data)
            self._count(line.done)
            return
        await journal.add(line.data, lambda: self._count(line.done))

    def _count(self, done: Done) -> None:
        from rollout.analysis.summary import Brief

        brief = Brief.of(done)
        self.finished += 1
        self.plan.broken.pop((brief.task, brief.trial), None)  # type: ignore[call-overload]
        self.plan.summary.add(brief)
        self.progress.count(brief)
        self.output.rollout(done, brief)

    def end(self) -> None:
        """Shows the end of the run and writes its summary."""
        from dataclasses import replace

        from rollout.cli.run_output import run_data
        from rollout.models import Usage

        for brief in self.plan.broken.values():
            # It was not done again. What it used has been counted.
            self.plan.summary.add(replace(brief, usage=Usage(), judge_usage=Usage()))
        if self.plan.journal is not None:
            self.plan.journal.summarize(run_data(self.plan, None if self.whole else self.stop))
        self.output.end(None if self.whole else self.stop)
        if self.reporting is not None:
            self.reporting.write(self.plan, None if self.whole else self.stop)


def fail_without_executor(error: ExecutorError) -> NoReturn:
    """Ends the command, with another exit code where the executor is not there than where no such is to be had."""
    from rollout.cli.output import Exit, fail
    from rollout.engine.executors import AbsentError

    fail(str(error), error.hint, code=Exit.PLATFORM if isinstance(error, AbsentError) else Exit.USAGE)


def _seated(setup: Setup) -> Setup:
    """With a seat for the person who acts. Standard output is the run's, so they are spoken to on standard error."""
    import sys
    from dataclasses import replace

    from rollout.cli.terminal import Terminal

    return replace(setup, seat=Terminal(sys.stderr))


def _output(form: str, running: Running) -> RunOutput:
    from rollout.cli.run_output import EventOutput, JsonOutput, JunitOutput, TextOutput

    if form == "json":
        return JsonOutput(running.plan)
    if form == "events":
        return EventOutput(running.plan)
    if form == "junit":
        return JunitOutput(running.plan)
    return TextOutput(running.plan, running.progress)


__all__ = ["Running", "fail_without_executor"]
