"""A person plays one task: from its instruction to the verdict, and to the solution that is recorded."""

from __future__ import annotations

from collections.abc import Mapping
from textwrap import dedent
from typing import Any

from rollout.cli.output import powerless, tell_error, wants_color
from rollout.cli.recording import Recorder, solution_of
from rollout.cli.terminal import Terminal
from rollout.cli.transcript import Transcript
from rollout.compile.record import RecordError
from rollout.engine import Outcome, Rollout, roll_out
from rollout.engine.judge import VerifierGrader
from rollout.engine.loop import EnvironmentWorkflow
from rollout.environment import Environment, Task
from rollout.models import Setup, connect
from rollout.models._seat import TakenBack
from rollout.settings import Settings
from rollout.templates import Stage, World

_REPLACE = "The task has a solution already. Put this one in its place?"


class Game:
    """One task at one terminal; begun anew whenever the person takes a call back.

    Raises TemplateError when the environment cannot be run here.
    """

    def __init__(
        self,
        environment: Environment,
        task: Task,
        terminal: Terminal,
        settings: Settings,
        *,
        max_tool_calls: int,
        show_state: bool,
    ) -> None:
        self.task = task
        self.terminal = terminal
        self.workflow = EnvironmentWorkflow(environment, max_tool_calls=max_tool_calls)
        if show_state:
            watched = self.workflow.stage = _WatchedStage(self.workflow.stage)
            terminal.watch(watched.state)
        self.grader = VerifierGrader(environment, setup=Setup(settings))
        self.person = connect("human", Setup(settings, seat=terminal))

    async def run(self, recorder: Recorder | None, *, replace: bool) -> tuple[Rollout, str | None]:
        """Plays, shows the verdict and records the play: the rollout, and the file that it is recorded in.

        Raises KeyboardInterrupt when the person gives up.
        """
        try:
            rollout = await self._play()
            self._show_verdict(rollout)
            if recorder is not None:
                return rollout, await self._record(rollout, recorder, replace=replace)
            if _passed(rollout) and self.task.solution is None:
                self.terminal.show("The task has no solution yet: --record keeps a play as one.", "quiet")
            return rollout, None
        finally:
            await self.grader.close()

    async def _play(self) -> Rollout:
        while True:
            try:
                return await roll_out(self.workflow, self.grader, self.task, self.person)
            except TakenBack:
                continue

    def _show_verdict(self, rollout: Rollout) -> None:
        if rollout.trace.ending == "tool_limit":
            most = self.workflow.max_tool_calls
            calls = "1 tool call is" if most == 1 else f"{most} tool calls are"
            self.terminal.show(f"{calls} the most there may be.", "quiet")
        transcript = Transcript(color=wants_color(self.terminal.out))
        self.terminal.out.write(powerless(f"\n{dedent(transcript.verdict(rollout.verdict))}\n"))
        self.terminal.out.flush()

    async def _record(self, rollout: Rollout, recorder: Recorder, *, replace: bool) -> str | None:
        terminal = self.terminal
        if not _passed(rollout):
            terminal.show("Not recorded, since it did not pass.", "quiet")
            return None
        solution = solution_of(rollout.trace)
        if left_out := sum(not call.ran for call in rollout.trace.calls):
            calls = "1 call" if left_out == 1 else f"{left_out} calls"
            terminal.show(f"Left out of the solution: {calls} that no tool took.", "quiet")
        try:
            await recorder.prove(solution, self.workflow, self.grader)
            if self.task.solution is not None and not replace and not terminal.agrees(_REPLACE):
                terminal.show("Not recorded; the solution that there was is kept.", "quiet")
                return None
            label = recorder.write(solution)
        except RecordError as error:
            tell_error(f"Not recorded. {error}", error.hint)
            if error.hint is not None and error.hint.startswith("Paste"):
                terminal.show(recorder.to_paste(solution))
            return None
        terminal.show(f"Recorded in {label}; played back by the oracle it reaches the top score.")
        return label


class _WatchedStage:
    """A stage that remembers the world it opened last, so that its state can be shown."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._world: World | None = None
        self.tools, self.notes, self.solve = stage.tools, stage.notes, stage.solve

    def open(self, task: Task) -> World:
        """As the stage."""
        self._world = self._stage.open(task)
        return self._world

    def state(self) -> Mapping[str, Any] | None:
        """The state of the world as it is."""
        return None if self._world is None else self._world.state()


def _passed(rollout: Rollout) -> bool:
    return rollout.verdict.outcome is Outcome.PASSED


__all__ = ["Game"]
